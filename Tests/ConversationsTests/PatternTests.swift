// SPDX-License-Identifier: Apache-2.0

import Sessions
import StatewireJSON
import Testing

@testable import Conversations

@Suite("Patterns")
struct PatternTests {
  /// Compares a value with a pattern and returns the differences and the bound names.
  func compare(
    _ expected: String, _ value: String, _ bound: [String: JSONValue] = [:]
  ) throws -> (differences: [String], bindings: Bindings) {
    var bindings = Bindings()
    for (name, value) in bound { bindings.bind(name, to: value) }
    let pattern = try Pattern(
      expected: JSONValue(parsing: expected), known: Set(bound.keys))
    let differences = pattern.differences(
      from: try JSONValue(parsing: value), binding: &bindings)
    return (differences.map(\.description), bindings)
  }

  @Test(
    "a pattern matches equal data, however it is written",
    arguments: [
      ("{\"a\": 1, \"b\": [true, null]}", "{\"b\":[true,null],\"a\":1}"),
      ("[1, 10, -0]", "[1.0,1e1,0]"), ("\"\\u00e9\"", "\"é\""),
      ("12345678901234567890123", "12345678901234567890123.0"),
      ("\"<_>\"", "{\"a\":1}"), ("\"<_>\"", "null"), ("{\"a\": \"<_>\"}", "{\"a\":null}"),
      ("\"<_:string>\"", "\"\""), ("\"<_:number>\"", "1.5"), ("\"<_:integer>\"", "1.0"),
      ("\"<_:integer>\"", "18446744073709551615"), ("\"<_:boolean>\"", "false"),
      ("\"<_:array>\"", "[]"), ("\"<_:object>\"", "{}"),
      ("\"<_:uuid>\"", "\"123e4567-E89B-12d3-a456-426614174000\""),
      ("{\"a\": 1, \"...\": \"...\"}", "{\"b\":2,\"a\":1,\"c\":3}"), ("{\"...\": \"...\"}", "{}"),
      ("{\"...\": 1}", "{\"...\":1}"), ("[\"...\"]", "[\"...\"]"),
      ("[\"<a>\", \"<a>\"]", "[1, 1.0]"),
      ("\"<<id>\"", "\"<id>\""), ("\"<<<<id>\"", "\"<<id>\""), ("\"a <<id> b\"", "\"a <id> b\""),
      ("\"1 < 2 << 3\"", "\"1 < 2 << 3\""), ("\"<>\"", "\"<>\""), ("\"<1>\"", "\"<1>\""),
      ("\"<a b>\"", "\"<a b>\""), ("\"<<_>\"", "\"<_>\""),
    ])
  func matching(expected: String, value: String) throws {
    #expect(try compare(expected, value).differences == [])
  }

  @Test(
    "a pattern reports each difference with its location",
    arguments: [
      ("1", "2", ["the message: expected 1, received 2"]),
      ("1", "\"1\"", ["the message: expected 1, received \"1\""]),
      ("null", "false", ["the message: expected null, received false"]),
      // Composed and decomposed: equal strings in Swift, but different bytes on the wire.
      ("\"\\u00e9\"", "\"e\\u0301\"", ["the message: expected \"\u{E9}\", received \"e\u{301}\""]),
      ("{\"a\": 1}", "{}", ["/a: expected 1, but it is missing"]),
      ("{\"a\": null}", "{}", ["/a: expected null, but it is missing"]),
      ("{}", "{\"a\":1}", ["/a: not expected: 1"]),
      ("{\"a\": 1, \"...\": \"...\"}", "{\"b\":2}", ["/a: expected 1, but it is missing"]),
      ("{\"...\": \"...\"}", "[]", ["the message: expected {\"...\": \"...\"}, received []"]),
      ("[1, 2]", "[1]", ["/1: expected 2, but it is missing"]),
      ("[1]", "[1,{\"a\":2}]", ["/1: not expected: {\"a\": 2}"]),
      ("[1]", "{\"0\":1}", ["the message: expected [1], received {\"0\": 1}"]),
      (
        "{\"a/b\": {\"~\": [1, 2]}}", "{\"a/b\":{\"~\":[1,3]}}",
        ["/a~1b/~0/1: expected 2, received 3"]
      ),
      (
        "{\"a\": 1, \"b\": 2, \"c\": 3}", "{\"d\":4,\"b\":0,\"a\":1}",
        ["/b: expected 2, received 0", "/c: expected 3, but it is missing", "/d: not expected: 4"]
      ),
      ("\"<_:string>\"", "1", ["the message: expected any string, received 1"]),
      ("\"<_:integer>\"", "1.5", ["the message: expected any integer, received 1.5"]),
      ("\"<_:boolean>\"", "null", ["the message: expected any boolean, received null"]),
      ("\"<_:array>\"", "{}", ["the message: expected any array, received {}"]),
      ("\"<_:object>\"", "[]", ["the message: expected any object, received []"]),
      ("\"<_:number>\"", "\"1\"", ["the message: expected any number, received \"1\""]),
      (
        "\"<_:uuid>\"", "\"123e4567-e89b-12d3-a456-42661417400\"",
        ["the message: expected any uuid, received \"123e4567-e89b-12d3-a456-42661417400\""]
      ),
      ("{\"a\": \"<x:string>\"}", "{\"a\":1}", ["/a: expected any string, received 1"]),
      ("[\"<a>\", \"<a>\"]", "[1,2]", ["/1: expected 1, which is <a>, received 2"]),
      ("{\"a\": \"<_>\"}", "{}", ["/a: expected \"<_>\", but it is missing"]),
    ])
  func differing(expected: String, value: String, differences: [String]) throws {
    #expect(try compare(expected, value).differences == differences)
  }

  @Test("a name is bound once, and later values are compared with the bound value")
  func binding() throws {
    let (differences, bindings) = try compare(
      "{\"id\": \"<id>\", \"of\": [\"<n:integer>\", \"<_>\"]}", "{\"id\":{\"a\":1},\"of\":[7,8]}")
    #expect(differences == [])
    #expect(bindings["id"] == ["a": 1])
    #expect(bindings["n"] == 7)
    #expect(bindings["_"] == nil)

    let bound: [String: JSONValue] = ["id": "x1", "n": 7, "o": ["a": 1]]
    #expect(
      try compare("[\"<id>\", \"<n>\", \"<o>\"]", "[\"x1\",7,{\"a\":1}]", bound).differences == [])
    #expect(
      try compare("\"todo/<id>-<n>:<o>\"", "\"todo/x1-7:{\\\"a\\\":1}\"", bound).differences == [])
    #expect(
      try compare("[\"<id>\", \"a<n>\"]", "[\"x2\",\"a8\"]", bound).differences == [
        "/0: expected \"x1\", which is <id>, received \"x2\"",
        "/1: expected \"a7\", received \"a8\"",
      ])
    #expect(try compare("\"<<<id>\"", "\"<x1\"", bound).differences == [])
  }

  @Test("a sent pattern is filled with the bound values")
  func filling() throws {
    var bindings = Bindings()
    bindings.bind("id", to: "x1")
    bindings.bind("n", to: 7)
    let pattern = try Pattern(
      sent: JSONValue(
        parsing:
          "{\"a\": \"<id>\", \"b\": [\"<n>\"], \"c\": \"<n>/<id>\", \"d\": \"<<id>\", \"...\": \"...\"}"
      ),
      known: ["id", "n"])
    #expect(
      try pattern.filled(from: bindings) == [
        "a": "x1", "b": [7], "c": "7/x1", "d": "<id>", "...": "...",
      ])
    #expect(throws: UnboundName(name: "id")) { try pattern.filled(from: Bindings()) }
  }

  @Test("a pattern is written as it was read")
  func writing() throws {
    for text in [
      "{\"a\": [1.50, null, true, \"x\"], \"b\": {}, \"c\": [], \"...\": \"...\"}",
      "\"<_>\"", "\"<_:uuid>\"", "\"<id>\"", "\"<id:string>\"", "\"<<id>\"", "\"a <<id> <b\"",
      "\"<n>/<<id>/<n>\"", "\"<<<n>\"", "\"<<<<<n>\"", "\"<<<<id>\"",
    ] {
      let pattern = try Pattern(expected: JSONValue(parsing: text), known: ["n"])
      #expect(pattern.spaced == text)
    }
  }

  @Test("any string can be escaped to a literal pattern")
  func escaping() throws {
    var random = FixedNumbers(seed: 5)
    for _ in 0..<5_000 {
      let text = (0..<Int.random(in: 0...8, using: &random))
        .map { _ in
          ["<", ">", "id", ":", "string", "_", " ", "é"].randomElement(using: &random) ?? ""
        }
        .joined()
      let value = JSONValue.string(text)
      let written = Pattern.literally(value)
      #expect(try Pattern(expected: written, known: []) == .literal(value))
    }
  }
}
