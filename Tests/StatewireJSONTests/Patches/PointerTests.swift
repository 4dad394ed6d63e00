// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("JSON Pointer")
struct PointerTests {
  @Test(
    "the examples of RFC 6901, section 5, give their documented values",
    arguments: [
      ("", nil), ("/foo", #"["bar","baz"]"#), ("/foo/0", #""bar""#), ("/", "0"), ("/a~1b", "1"),
      ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"),
      ("/m~0n", "8"),
    ])
  func examples(_ text: String, _ expected: String?) throws {
    let source = #"""
      {"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}
      """#
    let document = try JSONValue(parsing: source)
    let pointer = try JSONPointer(parsing: text)
    #expect(try document[pointer] == expected.map { try JSONValue(parsing: $0) } ?? document)
    #expect(pointer.description == text)
  }

  @Test(
    "only valid indexes of an array are accepted",
    arguments: [
      "/-", "/+1", "/01", "/00", "/1e0", "/-0", "/-1", "/3", "/ 1", "/1 ", "/", "/a", "/0x1",
      "/999999999999999999", "/9223372036854775808", "/99999999999999999999", "/1.0", "/١",
    ])
  func indexes(_ text: String) throws {
    let document: JSONValue = [1, 2, 3]
    #expect(try document[JSONPointer(parsing: text)] == nil)
    #expect(throws: JSONError.self) {
      try JSONPatch([["op": "replace", "path": .string(text), "value": 0]]).apply(to: document)
    }
  }

  @Test(
    "a text that is not a pointer is refused",
    arguments: ["a", "a/b", "/~", "/a~", "/~2", "/~01/~x", " /a", "#/a"])
  func syntax(_ text: String) {
    let error = #expect(throws: JSONError.self) { try JSONPointer(parsing: text) }
    #expect(error?.code == .pointer)
  }

  @Test("`~` and `/` are escaped and unescaped in the right order")
  func escaping() throws {
    for tokens in [["~1"], ["/"], ["~"], ["~01", "/~"], [""], ["", ""], []] as [[String]] {
      let pointer = JSONPointer(tokens)
      #expect(try JSONPointer(parsing: pointer.description) == pointer)
      #expect(try JSONPointer(parsing: pointer.description).tokens == tokens)
    }
    #expect(try JSONPointer(parsing: "/~01").tokens == ["~1"])
  }

  @Test("tokens are compared by their bytes")
  func equality() {
    #expect(JSONPointer(["\u{E9}"]) != JSONPointer(["e\u{301}"]))
    #expect(Set([JSONPointer(["a"]), JSONPointer(["a"]), JSONPointer(["a", ""])]).count == 2)
  }

  @Test("a pointer below a scalar gives nothing")
  func scalars() throws {
    #expect(try (["a": 1] as JSONValue)[JSONPointer(parsing: "/a/b")] == nil)
  }
}
