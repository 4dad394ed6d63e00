// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("JSON Patch")
struct PatchTests {
  @Test(
    "the examples of RFC 6902, appendix A, give their documented results",
    arguments: [
      // A.1 to A.7: adding, removing, replacing, moving.
      (
        #"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux"}]"#,
        #"{"baz":"qux","foo":"bar"}"#
      ),
      (
        #"{"foo":["bar","baz"]}"#, #"[{"op":"add","path":"/foo/1","value":"qux"}]"#,
        #"{"foo":["bar","qux","baz"]}"#
      ),
      (#"{"baz":"qux","foo":"bar"}"#, #"[{"op":"remove","path":"/baz"}]"#, #"{"foo":"bar"}"#),
      (
        #"{"foo":["bar","qux","baz"]}"#, #"[{"op":"remove","path":"/foo/1"}]"#,
        #"{"foo":["bar","baz"]}"#
      ),
      (
        #"{"baz":"qux","foo":"bar"}"#, #"[{"op":"replace","path":"/baz","value":"boo"}]"#,
        #"{"baz":"boo","foo":"bar"}"#
      ),
      (
        #"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
        #"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
        #"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#
      ),
      (
        #"{"foo":["all","grass","cows","eat"]}"#,
        #"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#,
        #"{"foo":["all","cows","eat","grass"]}"#
      ),
      // A.8 and A.9: testing.
      (
        #"{"baz":"qux","foo":["a",2,"c"]}"#,
        #"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]"#,
        #"{"baz":"qux","foo":["a",2,"c"]}"#
      ),
      (#"{"baz":"qux"}"#, #"[{"op":"test","path":"/baz","value":"bar"}]"#, nil),
      // A.10 to A.13.
      (
        #"{"foo":"bar"}"#, #"[{"op":"add","path":"/child","value":{"grandchild":{}}}]"#,
        #"{"foo":"bar","child":{"grandchild":{}}}"#
      ),
      (
        #"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux","xyz":123}]"#,
        #"{"foo":"bar","baz":"qux"}"#
      ),
      (#"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz/bat","value":"qux"}]"#, nil),
      // The example A.13 has "op" twice. The last one counts here, and its path does not exist.
      (#"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux","op":"remove"}]"#, nil),
      // A.14 to A.16.
      (#"{"/":9,"~1":10}"#, #"[{"op":"test","path":"/~01","value":10}]"#, #"{"/":9,"~1":10}"#),
      (#"{"/":9,"~1":10}"#, #"[{"op":"test","path":"/~01","value":"10"}]"#, nil),
      (
        #"{"foo":["bar"]}"#, #"[{"op":"add","path":"/foo/-","value":["abc","def"]}]"#,
        #"{"foo":["bar",["abc","def"]]}"#
      ),
    ] as [(String, String, String?)])
  func appendix(_ document: String, _ patch: String, _ expected: String?) throws {
    try check(document, patch, expected)
  }

  @Test(
    "the rules of RFC 6902 hold in edge cases",
    arguments: [
      ("1", #"[{"op":"replace","path":"","value":[2]}]"#, "[2]"),
      ("1", #"[{"op":"add","path":"","value":null}]"#, "null"),
      ("[1]", #"[{"op":"remove","path":""}]"#, "null"),
      ("[1]", #"[{"op":"add","path":"/1","value":2}]"#, "[1,2]"),
      ("[1]", #"[{"op":"add","path":"/2","value":2}]"#, nil),
      ("[1]", #"[{"op":"add","path":"/a","value":2}]"#, nil),
      ("[1]", #"[{"op":"remove","path":"/-"}]"#, nil),
      ("[1]", #"[{"op":"copy","from":"/-","path":"/0"}]"#, nil),
      ("[1,2]", #"[{"op":"move","from":"/0","path":"/-"}]"#, "[2,1]"),
      ("[1,2]", #"[{"op":"move","from":"/0","path":"/2"}]"#, nil),
      ("[1,2]", #"[{"op":"move","from":"/5","path":"/5"}]"#, nil),
      ("[1,2]", #"[{"op":"move","from":"/1","path":"/1"}]"#, "[1,2]"),
      (#"{"a":{"b":1}}"#, #"[{"op":"move","from":"/a","path":"/a/b"}]"#, nil),
      (#"{"a":{"b":1}}"#, #"[{"op":"move","from":"/a/b","path":"/a"}]"#, #"{"a":1}"#),
      (#"{"a":{"b":1}}"#, #"[{"op":"move","from":"/a","path":""}]"#, #"{"b":1}"#),
      (
        #"{"a":{"b":1}}"#, #"[{"op":"copy","from":"/a","path":"/a/c"}]"#,
        #"{"a":{"b":1,"c":{"b":1}}}"#
      ),
      (
        #"{"a":{"b":1}}"#, #"[{"op":"copy","from":"","path":"/c"}]"#,
        #"{"a":{"b":1},"c":{"a":{"b":1}}}"#
      ),
      (#"{"a":1}"#, #"[{"op":"replace","path":"/b","value":1}]"#, nil),
      (#"{"a":1}"#, #"[{"op":"replace","path":"/a/b","value":1}]"#, nil),
      (#"{"a":1}"#, #"[{"op":"test","path":"/a","value":1.0}]"#, #"{"a":1}"#),
      (#"{"a":null}"#, #"[{"op":"test","path":"/a","value":null}]"#, #"{"a":null}"#),
      (#"{}"#, #"[{"op":"test","path":"/a","value":null}]"#, nil),
      (#"{"é":1}"#, "[{\"op\":\"remove\",\"path\":\"/e\u{301}\"}]", nil),
      (#"{"a":1,"b":2}"#, #"[{"op":"remove","path":"/a"},{"op":"remove","path":"/c"}]"#, nil),
      ("[]", "[]", "[]"),
    ] as [(String, String, String?)])
  func letter(_ document: String, _ patch: String, _ expected: String?) throws {
    try check(document, patch, expected)
  }

  @Test(
    "an invalid patch is refused with the path of the error",
    arguments: [
      (#"{"op":"add"}"#, "", JSONError.Code.patch), (#"[1]"#, "/0", .type),
      (#"[{}]"#, "/0/op", .missing), (#"[{"op":1}]"#, "/0/op", .type),
      (#"[{"op":"test","path":"","value":1},{"op":"spam"}]"#, "/1/op", .patch),
      (#"[{"op":"add","value":1}]"#, "/0/path", .missing),
      (#"[{"op":"add","path":""}]"#, "/0/value", .missing),
      (#"[{"op":"add","path":1,"value":1}]"#, "/0/path", .type),
      (#"[{"op":"add","path":"x","value":1}]"#, "/0/path", .pointer),
      (#"[{"op":"replace","path":"/a"}]"#, "/0/value", .missing),
      (#"[{"op":"test","path":"/a"}]"#, "/0/value", .missing),
      (#"[{"op":"move","path":"/a"}]"#, "/0/from", .missing),
      (#"[{"op":"copy","path":"/a","from":"b"}]"#, "/0/from", .pointer),
      (#"[{"op":"remove"}]"#, "/0/path", .missing), ("null", "", .patch), ("{}", "", .patch),
    ])
  func reading(_ patch: String, _ path: String, _ code: JSONError.Code) throws {
    let error = #expect(throws: JSONError.self) { try JSONPatch(JSONValue(parsing: patch)) }
    #expect(error?.pathDescription == path && error?.code == code, "\(error as Any)")
    #expect(error?.offset == nil)

    // In a longer text, the path begins at its start.
    let text = Array("[\(patch)]".utf8)
    let found = #expect(throws: JSONError.self) {
      try text.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        try reader.beginArray()
        _ = try reader.nextElement()
        _ = try reader.read(JSONPatch.self)
      }
    }
    #expect(found?.pathDescription == "/0" + path && found?.code == code, "\(found as Any)")
  }

  @Test("a patch is read from text, with escapes and members that are not needed")
  func text() throws {
    let text = #"""
       [ {"value":[1], "\u0070ath":"/a\u002fb~0\"", "op":"a\u0064d", "x":{}, "y":[], "z":0},
         {"op":"remove","path":"/x","path":"/y"} ]\#n
      """#
    let patch = try JSONPatch(parsing: Array(text.utf8))
    #expect(
      patch.operations
        == [.add(JSONPointer(["a", "b~\""]), [1]), .remove(JSONPointer(["y"]))])
    let error = #expect(throws: JSONError.self) {
      try JSONPatch(parsing: Array("[\n {\"op\":\"spam\"}]".utf8))
    }
    #expect(error?.offset == 3 && error?.pathDescription == "/0/op")
    for wrong in ["[] 1", "[", "[{\"op\":\"add\",\"path\":\"\",\"value\":[[]]}]", ""] {
      #expect(throws: JSONError.self, "\(wrong)") {
        try JSONPatch(parsing: Array(wrong.utf8), limits: JSONLimits(maximumDepth: 3))
      }
    }
  }

  @Test("an operation that does not apply is named in the error")
  func applying() throws {
    let patch = try JSONPatch([
      ["op": "add", "path": "/a", "value": 1], ["op": "remove", "path": "/b"],
    ])
    let error = #expect(throws: JSONError.self) { try patch.apply(to: [:]) }
    #expect(error?.path.first == .index(1) && error?.code == .pointer)
  }

  @Test("a patch cannot enlarge a document without bound")
  func limits() throws {
    let doubling = JSONPatch(
      (0..<60).map { .copy(from: JSONPointer([]), to: JSONPointer(["k\($0)"])) })
    let error = #expect(throws: JSONError.self) { try doubling.apply(to: ["a": 1]) }
    #expect(error?.code == .limit)
    let deepening = JSONPatch(
      (0..<200).map { .add(JSONPointer((0..<$0).map { _ in "a" } + ["a"]), [:]) })
    let depth = #expect(throws: JSONError.self) { try deepening.apply(to: [:]) }
    #expect(depth?.code == .depth && depth?.path.first == .index(127))
    let moving = JSONPatch(
      (0..<200).map { .move(from: JSONPointer(["x"]), to: JSONPointer(["a\($0)"])) })
    #expect(throws: JSONError.self) { try moving.apply(to: ["x": 1]) }
  }

  @Test("50,000 operations on a large object have linear cost")
  func large() throws {
    let count = 50_000
    let document = JSONValue.object(JSONObject((0..<count).map { ("k\($0)", 1) }))
    let patch = JSONPatch(
      (0..<count).flatMap { index -> [JSONPatch.Operation] in
        let path = JSONPointer(["k\(index)"])
        return index % 2 == 0 ? [.remove(path)] : [.replace(path, 2), .test(path, 2)]
      })
    let result = try patch.apply(to: document)
    #expect(result.object?.count == count / 2)
  }

  private func check(_ document: String, _ patch: String, _ expected: String?) throws {
    let document = try JSONValue(parsing: document)
    let result = Result { try JSONPatch(JSONValue(parsing: patch)).apply(to: document) }
    if let expected {
      #expect(try result.get() == JSONValue(parsing: expected))
      let read = try JSONPatch(JSONValue(parsing: patch))
      #expect(try JSONPatch(read.value) == read)
    } else {
      #expect(throws: JSONError.self) { try result.get() }
    }
  }
}
