// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("Errors")
struct ErrorTests {
  @Test(
    "an error has a message, an offset in the text and a path in the document",
    arguments: [
      (#"{"a":[1,{"b":tru}]}"#, "/a/1/b", 16, JSONError.Code.syntax),
      (#"{"a":[1,{"b":01}]}"#, "/a/1/b", 13, .syntax),
      (#"[[],[[],"\q"]]"#, "/1/1", 9, .syntax),
      ("{\"a\":1,}", "", 7, .syntax),
      (#"{"a/b~c":[x]}"#, "/a~1b~0c/0", 10, .syntax),
      (#"{"\u00e9":[nul]}"#, "/é/0", 14, .syntax),
      (#"{"a":{"b":1} "c"}"#, "/a", 13, .syntax),
      ("[1,2", "/1", 4, .syntax),
    ])
  func located(_ text: String, _ path: String, _ offset: Int, _ code: JSONError.Code) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(error?.pathDescription == path)
    #expect(error?.offset == offset)
    #expect(error?.code == code)
  }

  @Test("the offset of invalid UTF-8 is that of its first byte")
  func utf8() {
    let error = #expect(throws: JSONError.self) {
      try JSONValue(parsing: Grammar.bytes("[\"ab\\xE2\\x28\"]"))
    }
    #expect(error?.code == .utf8)
    #expect(error?.offset == 4)
    #expect(error?.pathDescription == "/0")
  }

  @Test("a byte order mark is named in the error")
  func byteOrderMark() {
    let error = #expect(throws: JSONError.self) {
      try JSONValue(parsing: [0xEF, 0xBB, 0xBF, 0x7B, 0x7D])
    }
    #expect(error?.message.contains("byte order mark") == true)
  }

  @Test("a value of another type and a syntax error have different codes")
  func types() throws {
    for (text, code) in [("1", JSONError.Code.type), ("nope", .syntax), ("[1", .syntax)] {
      let error = #expect(throws: JSONError.self) {
        try Array(text.utf8).withUnsafeBytes {
          var reader = JSONReader($0)
          _ = try reader.readString()
        }
      }
      #expect(error?.code == code, "\(text)")
    }
  }

  @Test("errors of hand-written readers have a path")
  func own() throws {
    try Array(#"{"params":{"input":{"type":"wrong"}}}"#.utf8).withUnsafeBytes {
      var reader = JSONReader($0)
      for _ in 0..<3 {
        try reader.beginObject()
        _ = try reader.nextKey()
      }
      let tag = try reader.readStringBytes()
      #expect(reader.unknown(tag).pathDescription == "/params/input/type")
      #expect(reader.error(.value, "no").pathDescription == "/params/input/type")
      #expect(reader.error(.value, "no", at: 10).pathDescription == "/params")
      #expect(try reader.nextKey() == nil)
      #expect(reader.missing("title").pathDescription == "/params/input/title")
      #expect(reader.missing("title").code == .missing)
    }
  }

  @Test("a message quotes only a small part of the input")
  func quoting() throws {
    let long = String(repeating: "x\n", count: 10_000)
    let error = #expect(throws: JSONError.self) {
      try JSONPatch([["op": .string(long), "path": ""]])
    }
    #expect((error?.message.utf8.count ?? .max) < 200)
    #expect(error?.message.contains("\n") == false)
  }

  @Test("the description of an error is one line")
  func description() {
    let error = JSONError(.type, "expected a string", offset: 7, path: [.key("a"), .index(1)])
    #expect("\(error)" == "expected a string at /a/1 (byte 7)")
    #expect("\(JSONError(.patch, "no"))" == "no")
  }

  @Test("the path search does not crash for malformed text")
  func malformed() {
    let pieces = ["]", "}", ",", "\"\\", "{\"a\\u12\":", "\"\\ud8", "[", "{", ":", "1"]
    for one in pieces {
      for other in pieces {
        let bytes = Array((one + other + one).utf8)
        bytes.withUnsafeBytes {
          let reader = JSONReader($0)
          for offset in 0...bytes.count + 1 { _ = reader.error(.value, "", at: offset) }
        }
      }
    }
  }
}
