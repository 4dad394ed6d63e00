// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ProcessStores

@Suite("Versioned values of programs")
struct VersionedValueTests {
  private let first: JSONValue = ["list": ["a", "b", "c"], "map": ["x": 1], "n": 0]

  private func value(_ tree: JSONValue) -> VersionedValue {
    VersionedValue(SharedValue(tree))
  }

  private func patch(_ text: String) throws -> JSONPatch {
    try JSONPatch(JSONValue(parsing: text))
  }

  /// The operations that clients receive when a value becomes another one.
  private func change(_ old: VersionedValue, to new: VersionedValue) throws -> JSONPatch {
    var state = try JSONEncodedState(old)
    var writer = JSONPatchWriter()
    var buffer = JSONWriter()
    try state.advance(
      toDiffable: new, by: JSONEncoding<VersionedValue>(), using: &buffer, writing: &writer)
    #expect(state.wholeText == new.value.json.bytes)
    return try patch(String(decoding: writer.bytes(), as: UTF8.self))
  }

  @Test(
    "a value that is changed back is the same as a mark with its value, not as one of its version"
  )
  func marks() throws {
    let value = value(first)
    let (state, changed) = (
      try JSONEncodedState(value),
      try value.applying(patch(#"[{"op":"replace","path":"/map/x","value":2}]"#))
    )
    let back = try changed.applying(patch(#"[{"op":"replace","path":"/map/x","value":1.0}]"#))
    for keepsValues in [true, false] {
      let mark = state.mark(keepingValues: keepsValues)
      #expect(state.isSame(as: mark))
      #expect(try !JSONEncodedState(changed).isSame(as: mark))
      #expect(try JSONEncodedState(back).isSame(as: mark) == keepsValues)
    }
  }

  @Test(
    "a patch reaches clients with the operations that they know",
    arguments: [
      (#"[{"op":"replace","path":"/n","value":1}]"#, #"[{"op":"replace","path":"/n","value":1}]"#),
      (
        #"[{"op":"add","path":"/list/-","value":"d"}]"#,
        #"[{"op":"add","path":"/list/3","value":"d"}]"#
      ),
      (
        #"[{"op":"copy","from":"/list/0","path":"/list/-"}]"#,
        #"[{"op":"add","path":"/list/3","value":"a"}]"#
      ),
      (
        #"[{"op":"move","from":"/list/0","path":"/list/2"}]"#,
        #"[{"op":"move","from":"/list/0","path":"/list/2"}]"#
      ),
      (
        #"[{"op":"move","from":"/map/x","path":"/y"}]"#,
        #"[{"op":"remove","path":"/map/x"},{"op":"add","path":"/y","value":1}]"#
      ),
      (
        #"[{"op":"move","from":"/list/0","path":"/list/-"}]"#,
        #"[{"op":"remove","path":"/list/0"},{"op":"add","path":"/list/2","value":"a"}]"#
      ),
      (
        #"[{"op":"test","path":"/n","value":0},{"op":"remove","path":"/n"}]"#,
        #"[{"op":"remove","path":"/n"}]"#
      ),
      (#"[{"op":"replace","path":"/n","value":0}]"#, "[]"),
      (#"[{"op":"add","path":"/n","value":0}]"#, "[]"),
      (
        #"[{"op":"add","path":"","value":{"a":1}}]"#,
        #"[{"op":"replace","path":"","value":{"a":1}}]"#
      ),
      (
        #"[{"op":"copy","from":"/map","path":""}]"#,
        #"[{"op":"replace","path":"","value":{"x":1}}]"#
      ),
      (
        #"[{"op":"add","path":"/list/0","value":"a"}]"#,
        #"[{"op":"add","path":"/list/0","value":"a"}]"#
      ),
    ])
  func operations(given: String, expected: String) throws {
    let (old, patch) = (value(first), try patch(given))
    let new = try old.applying(patch)
    #expect(new.value.json == (try patch.apply(to: first)))
    #expect(try change(old, to: new) == (try self.patch(expected)))
  }

  @Test("a client that has missed a change gets the difference")
  func missed() throws {
    let old = value(first)
    let middle = try old.applying(patch(#"[{"op":"remove","path":"/map"}]"#))
    let new = try middle.applying(
      patch(#"[{"op":"replace","path":"/list/1","value":"B"}]"#))
    #expect(try change(old, to: new).apply(to: old.value.json) == new.value.json)
  }

  @Test("a replaced value is compared with the one before")
  func replaced() throws {
    let old = value(first)
    let new = value(["list": ["a", "c"], "map": ["x": 1], "n": 0])
    #expect(
      try change(old, to: new) == (try patch(#"[{"op":"remove","path":"/list/1"}]"#)))
  }

  // The first view of a viewer was taken for the default view, from which the viewer changed to it.
  @Test("values that have changed as often are different")
  func unrelated() throws {
    let patch = try patch(#"[{"op":"add","path":"/you","value":"ann"}]"#)
    let (everyone, own) = (value(["n": 0]), value(["n": 1]))
    #expect(
      try change(everyone, to: own)
        == (try self.patch(#"[{"op":"replace","path":"/n","value":1}]"#)))
    let next = try own.applying(patch)
    #expect(try change(everyone, to: next).apply(to: ["n": 0]) == ["n": 1, "you": "ann"])
  }

  @Test("a patch that cannot be applied changes nothing, and the error names its operation")
  func faults() throws {
    let old = value(first)
    let patch = try patch(
      #"[{"op":"remove","path":"/n"},{"op":"remove","path":"/nowhere"}]"#)
    let error = #expect(throws: JSONError.self) { try old.applying(patch) }
    #expect(error?.message.hasPrefix("operation 1: ") == true)
    #expect(old.value.json == first)
  }

  @Test("a change inside of a journaled state has the path of the value")
  func nested() throws {
    let old = ProcessState(
      version: 1, state: value(first), view: nil, views: [:])
    var new = old
    new.state = try old.state.applying(patch(#"[{"op":"remove","path":"/n"}]"#))
    var state = try JSONEncodedState(old)
    var writer = JSONPatchWriter()
    state.advance(to: try JSONEncodedState(new), writing: &writer)
    #expect(
      String(decoding: writer.bytes(), as: UTF8.self) == #"[{"op":"remove","path":"/state/n"}]"#)
    let read = try JSON.decode(ProcessState.self, from: state.wholeText)
    #expect(read.state.value.json == new.state.value.json)
  }
}
