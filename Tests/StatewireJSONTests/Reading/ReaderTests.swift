// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("Reader")
struct ReaderTests {
  @Test("an object is read member by member")
  func object() throws {
    let text = #" { "title" : "Milk", "done": true , "count":-12,"price":1.25, "note":null } "#
    try read(text) { reader in
      var seen: [String] = []
      #expect(try reader.peek() == .object)
      try reader.beginObject()
      while let key = try reader.nextKey() {
        switch key {
        case "title": #expect(try reader.readString() == "Milk")
        case "done": #expect(try reader.readBool())
        case "count": #expect(try reader.readInt() == -12)
        case "price": #expect(try reader.readDouble() == 1.25)
        case "note": try reader.readNull()
        default: Issue.record("unexpected key \(key.string)")
        }
        seen.append(key.string)
      }
      try reader.finish()
      #expect(seen == ["title", "done", "count", "price", "note"])
    }
  }

  @Test("an array is read element by element")
  func array() throws {
    try read("[1,[],[2,3],4]") { reader in
      var numbers: [Int] = []
      try reader.beginArray()
      while try reader.nextElement() {
        if try reader.peek() == .number {
          numbers.append(try reader.readInt())
        } else {
          try reader.beginArray()
          while try reader.nextElement() { numbers.append(try reader.readInt()) }
        }
      }
      try reader.finish()
      #expect(numbers == [1, 2, 3, 4])
    }
  }

  @Test(
    "`peek` returns the kind of the next value",
    arguments: [
      ("{", JSONKind.object), (" [", .array), ("\"", .string), ("t", .bool), ("f", .bool),
      ("n", .null), ("-", .number), ("7", .number),
    ])
  func peeks(_ text: String, _ kind: JSONKind) throws {
    try read(text) { reader in
      let found = try reader.peek()
      #expect(found == kind)
    }
  }

  @Test("keys are compared with literals, with or without escapes, by their bytes")
  func keys() throws {
    try read(#"{"title":0,"t\u0069tle":0,"titl":0,"é":0,"e\u0301":0}"#) { reader in
      try reader.beginObject()
      let plain = try #require(try reader.nextKey())
      #expect(plain == "title" && !plain.isEscaped)
      #expect(plain != "titles" && plain != "titld" && plain != "" && plain != "t")
      try reader.skipValue()
      let escaped = try #require(try reader.nextKey())
      #expect(escaped == "title" && escaped.isEscaped && escaped.string == "title")
      #expect(escaped.isSame(as: "title") && !escaped.isSame(as: "titel"))
      try reader.skipValue()
      let short = try #require(try reader.nextKey())
      #expect(short != "title")
      try reader.skipValue()
      let composed = try #require(try reader.nextKey())
      #expect(composed == "\u{E9}" && composed != "e\u{301}")
      try reader.skipValue()
      let decomposed = try #require(try reader.nextKey())
      #expect(decomposed == "e\u{301}" && decomposed != "\u{E9}")
    }
  }

  @Test("`skipValue` returns the range of the skipped value")
  func skipping() throws {
    try read(#"{"a": [1, {"b":"]"}] ,"c":2}"#) { reader in
      try reader.beginObject()
      _ = try reader.nextKey()
      let range = try reader.skipValue()
      #expect(String(decoding: reader.bytes(in: range), as: UTF8.self) == #"[1, {"b":"]"}]"#)
      #expect(reader.position == range.upperBound)
      let key = try #require(try reader.nextKey())
      #expect(key == "c")
    }
  }

  @Test("null is consumed only if it is present")
  func null() throws {
    try read("[null,1]") { reader in
      try reader.beginArray()
      _ = try reader.nextElement()
      #expect(try reader.readNullIfPresent())
      _ = try reader.nextElement()
      #expect(try !reader.readNullIfPresent())
      #expect(try reader.readIfPresent(Int.self) == 1)
      #expect(try !reader.nextElement())
    }
  }

  @Test("each lone surrogate is replaced by U+FFFD")
  func surrogates() throws {
    let cases = [
      (#""\ud800""#, "\u{FFFD}"), (#""\udc00""#, "\u{FFFD}"),
      (#""\ud800\ud800""#, "\u{FFFD}\u{FFFD}"), (#""\udc00\ud800""#, "\u{FFFD}\u{FFFD}"),
      (#""\ud800\ud834\udd1e""#, "\u{FFFD}𝄞"), (#""\ud834\udd1e\udd1e""#, "𝄞\u{FFFD}"),
      (#""a\ud800b""#, "a\u{FFFD}b"), (#""\ud800\n""#, "\u{FFFD}\n"),
      (#""\uDBFF\uDFFF""#, "\u{10FFFF}"), (#""\ud800\u0041""#, "\u{FFFD}A"),
    ]
    for (text, expected) in cases {
      #expect(try JSONValue(parsing: text) == .string(expected), "\(text)")
    }
  }

  @Test("every escape is resolved")
  func escapes() throws {
    let text = #""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud834\udd1e\u0000""#
    let expected = "\"\\/\u{08}\u{0C}\n\r\tAé€𝄞\u{00}"
    #expect(try JSONValue(parsing: text).string == expected)
  }

  @Test("the maximum depth is enforced exactly")
  func depth() throws {
    let limits = JSONLimits(maximumDepth: 3)
    for text in ["[[[1]]]", "{\"a\":{\"a\":{}}}", "[{\"a\":[]},[[]]]"] {
      #expect(throws: Never.self) { try JSONValue(parsing: text, limits: limits) }
    }
    for text in ["[[[[]]]]", "{\"a\":{\"a\":{\"a\":{}}}}", "[[[{}]]]"] {
      let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text, limits: limits) }
      #expect(error?.code == .depth)
    }
  }

  @Test("a million open brackets are an error of depth", arguments: ["[", "{\"a\":", "[{\"a\":"])
  func hostileDepth(_ piece: String) {
    let bytes = Array(String(repeating: piece, count: 1_000_000).utf8)
    for error in [
      #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) },
      #expect(throws: JSONError.self) { try skip(bytes) },
    ] {
      #expect(error?.code == .depth)
      #expect(error?.path.count == 128)
    }
  }

  @Test(
    "values of any depth are skipped if the limits allow it",
    arguments: [1, 63, 64, 65, 128, 129, 5_000])
  func deepSkip(_ depth: Int) throws {
    let opening = (0..<depth).map { $0 % 3 == 0 ? "{\"a\":" : "[" }.joined()
    let closing = (0..<depth).reversed().map { $0 % 3 == 0 ? "}" : "]" }.joined()
    let bytes = Array((opening + "1" + closing).utf8)
    try bytes.withUnsafeBytes {
      var reader = JSONReader($0, limits: JSONLimits(maximumDepth: .max))
      let range = try reader.skipValue()
      #expect(range == 0..<bytes.count)
    }
  }

  @Test("strings of every length and alignment are read")
  func lengths() throws {
    for length in 0..<40 {
      for special in ["", "é", #"\n"#, #"\u00e9"#, "𝄞"] {
        let text = String(repeating: "x", count: length) + special + "yz"
        let value = try JSONValue(parsing: "\"" + text + "\"").string
        let expected =
          String(repeating: "x", count: length)
          + [#"\n"#: "\n", #"\u00e9"#: "é"][special, default: special] + "yz"
        #expect(value == expected)
      }
    }
  }

  private func read(_ text: String, _ body: (inout JSONReader) throws -> Void) throws {
    try Array(text.utf8).withUnsafeBytes {
      var reader = JSONReader($0)
      try body(&reader)
    }
  }
}
