// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("Writer")
struct WriterTests {
  @Test("integers of every length are written")
  func digits() {
    var expected: [String] = []
    var writer = JSONWriter()
    func both(_ value: UInt64) {
      expected.append("\(value)")
      writer.value(value)
      guard let value = Int64(exactly: value) else { return }
      expected.append("\(-value)")
      writer.value(-value)
    }
    writer.beginArray()
    var power: UInt64 = 1
    for _ in 0..<19 {
      for value in [power - 1, power, power + 1] { both(value) }
      power *= 10
    }
    for value in [power, .max] { both(value) }
    expected.append("\(Int64.min)")
    writer.value(Int64.min)
    writer.endArray()
    #expect(writer.string() == "[\(expected.joined(separator: ","))]")
  }

  @Test("commas are written between values")
  func commas() {
    let text = written { writer in
      writer.beginArray()
      writer.null()
      writer.value(true)
      writer.value(false)
      writer.beginObject()
      writer.endObject()
      writer.beginObject()
      writer.key("a")
      writer.value(1)
      writer.key("b" as String)
      writer.beginArray()
      writer.endArray()
      writer.key("c")
      writer.verbatim(Array("{ }".utf8))
      writer.key("d")
      writer.value("x" as StaticString)
      writer.endObject()
      writer.verbatim(Array("[0]".utf8))
      writer.value("y" as String)
      writer.endArray()
    }
    #expect(text == #"[null,true,false,{},{"a":1,"b":[],"c":{ },"d":"x"},[0],"y"]"#)
  }

  @Test("no commas are written around raw bytes")
  func raw() {
    let text = written { writer in
      writer.raw("{\"id\":")
      writer.value(1)
      writer.raw(",\"result\":")
      writer.value("x")
      writer.raw(Array("}".utf8))
      writer.raw(byte: 0x0A)
      Array("{".utf8).withUnsafeBytes { writer.raw($0) }
      writer.key("a")
      writer.null()
      writer.endObject()
    }
    #expect(text == "{\"id\":1,\"result\":\"x\"}\n{\"a\":null}")
  }

  @Test("raw bytes of every length are written")
  func pieces() {
    for length in 0...80 {
      let piece = Array((0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) })
      var writer = JSONWriter()
      writer.raw(byte: UInt8(ascii: "<"))
      piece.withUnsafeBytes { writer.raw($0) }
      piece.withUnsafeBytes { writer.raw($0) }
      writer.raw(byte: UInt8(ascii: ">"))
      #expect(writer.bytes() == Array("<".utf8) + piece + piece + Array(">".utf8))
    }
  }

  @Test("bytes are inserted at an offset, also if the buffer grows")
  func inserting() {
    for length in [0, 1, 100, 128, 1000] {
      var writer = JSONWriter()
      writer.raw("first ")
      let place = writer.count
      let body = Array(repeating: UInt8(ascii: "x"), count: length)
      body.withUnsafeBytes { writer.raw($0) }
      Array("Length: 7 ".utf8).withUnsafeBytes { writer.insert($0, at: place) }
      writer.raw("!")
      #expect(writer.bytes() == Array("first Length: 7 ".utf8) + body + Array("!".utf8))
    }
  }

  @Test("exactly the required characters are escaped")
  func escapes() {
    let cases = [
      ("", #""""#), ("abc", #""abc""#), ("\"\\/", #""\"\\/""#),
      ("\u{08}\u{0C}\n\r\t", #""\b\f\n\r\t""#), ("\u{00}\u{1F}\u{0B}", #""\u0000\u001f\u000b""#),
      ("\u{7F}é€𝄞\u{2028}\u{FFFD}", "\"\u{7F}é€𝄞\u{2028}\u{FFFD}\""),
      ("12345678\n12345678", #""12345678\n12345678""#), ("1234567\"", #""1234567\"""#),
    ]
    for (string, expected) in cases {
      #expect(written { $0.value(string) } == expected)
    }
  }

  @Test("strings of every length with an escape at any position are read back")
  func lengths() throws {
    for length in 0..<30 {
      for at in 0...length {
        for special in ["\"", "\u{01}", "é", "\\", " "] {
          let text =
            String(repeating: "a", count: at) + special + String(repeating: "b", count: length - at)
          #expect(try JSONValue(parsing: written { $0.value(text) }).string == text)
        }
      }
    }
  }

  @Test("integers of all types are written")
  func integers() {
    for value in [0, 1, 9, 10, 99, 100, 12345, -1, -9, -10, .min, .max] as [Int64] {
      #expect(written { $0.value(value) } == "\(value)")
      #expect(written { $0.value(Int(value)) } == "\(value)")
      #expect(written { $0.value(JSONNumber(value)) } == "\(value)")
    }
    for value in [0, 9, 10, .max, UInt64(Int64.max) + 1] as [UInt64] {
      #expect(written { $0.value(value) } == "\(value)")
      #expect(written { $0.value(JSONNumber(value)) } == "\(value)")
    }
    #expect(written { $0.value(UInt8.max) } == "255")
    #expect(written { $0.value(Int128.min) } == "\"\(Int128.min)\"")
  }

  @Test("`truncate` removes what was written after a mark")
  func truncation() {
    var writer = JSONWriter(reserving: 4)
    writer.beginArray()
    let start = writer.count
    writer.value(1)
    let mark = writer.count
    writer.value("two")
    writer.truncate(to: mark)
    writer.value(3)
    #expect(writer.string() == "[1,3")
    writer.truncate(to: start)
    writer.value(4)
    writer.endArray()
    #expect(writer.string() == "[4]")
    #expect(writer.bytes() == Array("[4]".utf8))
  }

  @Test("`removeAll` resets the writer")
  func removal() {
    var writer = JSONWriter()
    writer.value("some text")
    writer.removeAll(keepingCapacity: true)
    #expect(writer.count == 0 && writer.string() == "")
    writer.value(1)
    writer.removeAll(keepingCapacity: false)
    writer.value(2)
    #expect(writer.string() == "2")
  }

  @Test("values of `JSONWritable` types and their absence are written")
  func writables() {
    let text = written { writer in
      writer.beginArray()
      writer.value(Optional<Int8>.none)
      writer.value(Optional<Int8>.some(3))
      writer.value(["a": [1.5, nil]] as JSONValue)
      writer.value(Double.infinity)
      writer.value(Float.nan)
      writer.value(Float(0.1))
      writer.endArray()
    }
    #expect(text == #"[null,3,{"a":[1.5,null]},null,null,0.1]"#)
    #expect(("x" as JSONValue).jsonBytes() == Array("\"x\"".utf8))
  }

  @Test("`writeOrNull` writes encodable values, and null if they cannot be encoded")
  func encodables() {
    struct Item: Encodable { var ratio: Double }
    let text = written { writer in
      writer.beginArray()
      JSONEncoding().writeOrNull(Item(ratio: 0.5), to: &writer)
      JSONEncoding().writeOrNull([Item(ratio: .nan)], to: &writer)
      JSONEncoding().writeOrNull(Item(ratio: 1), to: &writer)
      writer.endArray()
    }
    #expect(text == #"[{"ratio":0.5},null,{"ratio":1}]"#)
  }
}
