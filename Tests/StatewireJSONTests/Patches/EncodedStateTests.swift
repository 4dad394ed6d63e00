// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@Suite("Encoded state")
struct EncodedStateTests {
  struct State: Codable, Equatable {
    var title = "a title of some length, so that replacing all is not worthwhile"
    var counter = Counter(value: 1)
    var counters: [Counter] = []
    var named: [String: Counter] = [:]
    var phase = Phase.idle(counter: Counter(value: 0))
    var note: String?
  }

  enum Phase: Codable, Equatable {
    case idle(counter: Counter)
    case busy(counter: Counter, since: Int)
  }

  @Test("an update writes nothing if nothing has changed, including the leaves")
  func unchanged() throws {
    #expect(try patch(State(), State()) == "[]")
  }

  @Test("an update changes leaves at their paths")
  func leaves() throws {
    var new = State()
    new.counter.value = 2
    #expect(try patch(State(), new) == #"[{"op":"replace","path":"/counter","value":2}]"#)
    new.phase = .idle(counter: Counter(value: 5))
    #expect(
      try patch(State(), new)
        == #"[{"op":"replace","path":"/counter","value":2},"#
        + #"{"op":"replace","path":"/phase/counter","value":5}]"#)
  }

  @Test("a copy of an encoded state does not change with the original")
  func copies() throws {
    let encoding = JSONEncoding<State>()
    var writer = JSONWriter()
    var held = try JSONEncodedState(State(), by: encoding)
    var copies: [(JSONEncodedState, State)] = []
    for length in [10, 5_000, 3, 20, 900, 0, 1, 100_000, 7] {
      var state = State()
      state.title = String(repeating: "x", count: length)
      state.counter.value = length
      var patch = JSONPatchWriter()
      try held.advance(to: state, by: encoding, using: &writer, writing: &patch)
      copies.append((held, state))
    }
    for (copy, state) in copies {
      var text = JSONWriter()
      copy.write(to: &text)
      #expect(try JSON.decode(State.self, from: text.bytes()) == state)
    }
  }

  @Test(
    "a state is the same as its mark if the patch is empty and there is at most one versioned leaf")
  func marks() throws {
    struct Plain: Codable {
      var values: [String: Int]
      var list: Versioned?
    }
    func state(_ text: String, version: UInt64? = nil) throws -> JSONEncodedState {
      var plain = try JSON.decode(Plain.self, from: Array(text.utf8))
      if let version { plain.list = Versioned(version: version) }
      return try JSONEncodedState(plain)
    }
    let mark = try state(#"{"values":{"a":1}}"#).mark()
    #expect(try state(#"{"values":{"a":1}}"#).isSame(as: mark))
    #expect(try !state(#"{"values":{"a":2}}"#).isSame(as: mark))
    #expect(try !state(#"{"values":{"a":1}}"#, version: 1).isSame(as: mark))
    // A different text of the same data.
    let value = JSONEncodedState(writing: try JSONValue(parsing: #"{"a":1,"b":2}"#))
    #expect(
      JSONEncodedState(writing: try JSONValue(parsing: #"{"b":2,"a":1}"#)).isSame(as: value.mark()))
    let listed = try state(#"{"values":{}}"#, version: 1).mark()
    #expect(try state(#"{"values":{}}"#, version: 1).isSame(as: listed))
    #expect(try !state(#"{"values":{}}"#, version: 2).isSame(as: listed))
    #expect(try !state(#"{"values":{"a":1}}"#, version: 1).isSame(as: listed))
    #expect(try !state(#"{"values":{}}"#).isSame(as: listed))
    // Leaves without versions are compared, also if there are several.
    var other = State()
    #expect(try JSONEncodedState(other).isSame(as: JSONEncodedState(State()).mark()))
    other.counter.value = 2
    #expect(try !JSONEncodedState(other).isSame(as: JSONEncodedState(State()).mark()))
    let counter = try JSONEncodedState(Counter(value: 1))
    #expect(counter.isSame(as: counter.mark()))
    #expect(try !counter.isSame(as: JSONEncodedState(Counter(value: 2)).mark()))
  }

  private struct Versioned: JSONDifferencing, Codable {
    let version: UInt64?

    func write(to writer: inout JSONWriter) { writer.value("list") }
    func encode(to encoder: any Encoder) throws { try "list".encode(to: encoder) }
    mutating func advance(
      to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
    ) -> Bool { false }
  }

  @Test("a replaced value is written with the full text of its leaves")
  func whole() throws {
    var new = State()
    new.phase = .busy(counter: Counter(value: 7), since: 3)
    #expect(
      try patch(State(), new)
        == #"[{"op":"replace","path":"/phase","value":{"type":"busy","counter":7,"since":3}}]"#)
    new = State()
    new.counters = [Counter(value: 4), Counter(value: 5)]
    new.named = ["x": Counter(value: 6)]
    #expect(
      try patch(State(), new)
        == #"[{"op":"replace","path":"/counters","value":[4,5]},"#
        + #"{"op":"add","path":"/named/x","value":6}]"#)
  }

  @Test("a leaf that cannot be updated to the new one is replaced")
  func unrelated() throws {
    var new = State()
    new.counter = Counter(value: 1, family: 1)
    #expect(try patch(State(), new) == #"[{"op":"replace","path":"/counter","value":1}]"#)
  }

  @Test("an update keeps existing leaves and adopts only new ones")
  func ownership() throws {
    // The text of a `Probe` shows the number of its updates, and therefore which leaf the state
    // has.
    var held = try JSONEncodedState(["x": Probe(value: 1)])
    for step in 1...3 {
      var patch = JSONPatchWriter()
      held.advance(to: try JSONEncodedState(["x": Probe(value: step * 10)]), writing: &patch)
      #expect(text(of: held) == "{\"x\":\"\(step * 10) after \(step)\"}")
    }
    var patch = JSONPatchWriter()
    held.advance(
      to: try JSONEncodedState(["x": Probe(value: 40), "y": Probe(value: 50)]), writing: &patch)
    let result = try JSONValue(parsing: text(of: held))
    #expect(result == ["x": "40 after 4", "y": "50 after 0"])
  }

  @Test("patches of random states, including leaves, lead to the current document")
  func random() throws {
    var random = SeededGenerator(seed: 9)
    var state = State()
    var held = try JSONEncodedState(state)
    let encoding = JSONEncoding<State>()
    var buffer = JSONWriter()
    var document = try JSON.value(state)
    for _ in 0..<3_000 {
      for _ in 0..<Int.random(in: 0..<3, using: &random) { change(&state, &random) }
      var writer = JSONPatchWriter()
      if Bool.random(using: &random) {
        held.advance(to: try JSONEncodedState(state), writing: &writer)
      } else {
        try held.advance(to: state, by: encoding, using: &buffer, writing: &writer)
      }
      let before = document
      let patch = try JSONPatch(JSONValue(parsing: writer.bytes()))
      #expect(patch.operations.count == writer.count)
      document = try patch.apply(to: document)
      #expect(try document == JSON.value(state))
      #expect(writer.isEmpty == (before == document))
      #expect(try JSONValue(parsing: text(of: held)) == document)
    }
  }

  @Test("a type that writes invalid JSON is replaced as a whole")
  func invalid() throws {
    let texts = [
      "", "{", "[1,", "{\"a\":1,\"b\":tru}", "{\"a\":1,\"b\":x}", "}", "1 2",
    ]
    for old in texts {
      for new in texts {
        var held = JSONEncodedState(writing: Written(text: old))
        var patch = JSONPatchWriter()
        held.advance(to: JSONEncodedState(writing: Written(text: new)), writing: &patch)
        #expect(text(of: held) == new)
      }
    }
  }

  @Test(
    "an update compares the data, not the text",
    arguments: [
      ("true", "true ", "[]"), (" null\n", "null", "[]"), ("1 ", "\t1.0", "[]"),
      ("{}", " { } ", "[]"), (#"{ "a" : 1 , "b":2}"#, #"{"a":1,"b" : 2 }"#, "[]"),
      (#"{"\u0061":1}"#, #"{"\u0061":1}"#, "[]"), (#"{"\u0061":1}"#, #"{"a":1}"#, "[]"),
      (#"{"\u0061":1,"b":[50,60,70,80,90]}"#, #"{"\u0061":2,"b":[50,60,70,80,90]}"#, "/a"),
      (#"{ "a": 1,"b":[50,60,70,80,90]}"#, #"{ "a": 2,"b":[50,60,70,80,90]}"#, "/a"),
      ("1\n", "2\n", #""value":2}]"#), ("{\"type\":\"a\"}\n", "{\"type\":\"b\"}\n", #""b"}}]"#),
    ])
  func spelling(_ old: String, _ new: String, _ expected: String) throws {
    var held = JSONEncodedState(writing: Written(text: old))
    var patch = JSONPatchWriter()
    held.advance(to: JSONEncodedState(writing: Written(text: new)), writing: &patch)
    let text = patch.bytes().text
    #expect(text.contains(expected) && !text.contains("\n"))
    let patched = try JSONPatch(JSONValue(parsing: patch.bytes())).apply(
      to: JSONValue(parsing: Array(old.utf8)))
    #expect(try patched == JSONValue(parsing: Array(new.utf8)))
    #expect(self.text(of: held) == new)
  }

  private struct Written: JSONWritable {
    var text: String
    func write(to writer: inout JSONWriter) {
      Array(text.utf8).withUnsafeBytes { writer.raw($0) }
    }
  }

  @Test("cases are compared by the value of `type`, not by its text")
  func cases() throws {
    var held = JSONEncodedState(
      writing: Written(text: #"{"type":"\u0069dle","note":"longer than an operation is","x":1}"#))
    var patch = JSONPatchWriter()
    held.advance(
      to: JSONEncodedState(
        writing: Written(text: #"{"type":"idle","note":"longer than an operation is","x":2}"#)),
      writing: &patch)
    #expect(patch.bytes().text == #"[{"op":"replace","path":"/x","value":2}]"#)
  }

  @Test("operations are written at the current path of the patch")
  func place() throws {
    var held = try JSONEncodedState(["a": 1])
    var patch = JSONPatchWriter(reserving: 100)
    patch.enter("stores")
    patch.enter(index: 3)
    held.advance(to: try JSONEncodedState(["a": 2]), writing: &patch)
    patch.leave()
    patch.leave()
    #expect(patch.bytes().text == #"[{"op":"replace","path":"/stores/3/a","value":2}]"#)
  }

  private func change(_ state: inout State, _ random: inout SeededGenerator) {
    let number = Int.random(in: 0..<4, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: state.counter.value = number
    case 1: state.counters.insert(Counter(value: number), at: 0)
    case 2: if !state.counters.isEmpty { state.counters.removeLast() }
    case 3: state.named["k\(number)"] = Counter(value: number)
    case 4: state.named["k\(number)"] = nil
    case 5: state.phase = .idle(counter: Counter(value: number))
    case 6: state.phase = .busy(counter: Counter(value: number), since: number)
    default: state.note = state.note == nil ? "some note or other" : nil
    }
  }

  private func patch(_ old: State, _ new: State) throws -> String {
    var held = try JSONEncodedState(old)
    var patch = JSONPatchWriter()
    held.advance(to: try JSONEncodedState(new), writing: &patch)
    #expect(try JSONValue(parsing: text(of: held)) == JSON.value(new))
    return patch.bytes().text
  }

  private func text(of state: JSONEncodedState) -> String {
    written { state.write(to: &$0) }
  }
}

/// A leaf whose text contains the number of its updates.
private struct Probe: JSONDifferencing, Encodable {
  var value: Int
  var steps = 0

  func encode(to encoder: any Encoder) throws { fatalError("a leaf is written by write(to:)") }

  func write(to writer: inout JSONWriter) { writer.value("\(value) after \(steps)" as String) }

  mutating func advance(
    to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    guard let new = new as? Probe else { return false }
    value = new.value
    steps += 1
    patch.replace { [self] in write(to: &$0) }
    return true
  }
}
