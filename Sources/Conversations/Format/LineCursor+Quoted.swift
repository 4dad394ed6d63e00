// SPDX-License-Identifier: Apache-2.0

/// A fault at a byte of a line.
struct LineFault: Error {
  let offset: Int
  let message: String
}

extension LineCursor {
  /// Takes bytes in quotation marks, and the blanks after them.
  ///
  /// The escapes are those of JSON, and `\xHH` for any byte. `* N` after the string repeats the
  /// bytes.
  mutating func takeQuotedBytes() throws(LineFault) -> [UInt8] {
    let start = offset
    guard takeByte() == UInt8(ascii: "\"") else {
      throw LineFault(offset: start, message: "expected a string in quotation marks")
    }
    var bytes: [UInt8] = []
    while true {
      switch takeByte() {
      case nil: throw LineFault(offset: start, message: "the string does not end in this line")
      case UInt8(ascii: "\"")?:
        skipBlanks()
        return try repeated(bytes)
      case UInt8(ascii: "\\")?: try takeEscape(into: &bytes)
      case let byte?: bytes.append(byte)
      }
    }
  }

  private mutating func takeEscape(into bytes: inout [UInt8]) throws(LineFault) {
    let start = offset - 1
    switch takeByte().map({ Character(Unicode.Scalar($0)) }) {
    case "\"": bytes.append(UInt8(ascii: "\""))
    case "\\": bytes.append(UInt8(ascii: "\\"))
    case "/": bytes.append(UInt8(ascii: "/"))
    case "b": bytes.append(0x08)
    case "f": bytes.append(0x0C)
    case "n": bytes.append(0x0A)
    case "r": bytes.append(0x0D)
    case "t": bytes.append(0x09)
    case "x": bytes.append(UInt8(try takeHexadecimal(digits: 2, from: start)))
    case "u":
      var code = try takeHexadecimal(digits: 4, from: start)
      if (0xD800..<0xDC00).contains(code), rest.starts(with: "\\u".utf8) {
        skip(2)
        let low = try takeHexadecimal(digits: 4, from: start)
        guard (0xDC00..<0xE000).contains(low) else { throw .loneSurrogate(start) }
        code = 0x10000 + (code - 0xD800) << 10 + low - 0xDC00
      }
      guard let scalar = Unicode.Scalar(UInt32(code)) else { throw .loneSurrogate(start) }
      bytes += String(Character(scalar)).utf8
    default:
      throw LineFault(offset: start, message: "unknown escape; use a JSON escape or \\xHH")
    }
  }

  private mutating func takeHexadecimal(digits: Int, from start: Int) throws(LineFault) -> Int {
    let text = rest.prefix(digits)
    guard text.count == digits, text.allSatisfy(Self.isHexadecimal),
      let value = Int(String(decoding: text, as: UTF8.self), radix: 16)
    else { throw LineFault(offset: start, message: "expected \(digits) hexadecimal digits") }
    skip(digits)
    return value
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  /// The largest total size of repeated bytes: enough to exceed the limit of any server.
  private static let maximumRepeatedBytes = 64 << 20

  private mutating func repeated(_ bytes: [UInt8]) throws(LineFault) -> [UInt8] {
    guard take("*") else { return bytes }
    let digits = rest.prefix(while: Self.isDigit)
    guard let times = Int(String(decoding: digits, as: UTF8.self)), times > 0,
      times <= Self.maximumRepeatedBytes / max(bytes.count, 1)
    else {
      throw LineFault(
        offset: offset, message: "expected a repetition count, for at most 64 MiB in total")
    }
    skip(digits.count)
    skipBlanks()
    return Array(repeatElement(bytes, count: times).joined())
  }
}

extension LineFault {
  fileprivate static func loneSurrogate(_ offset: Int) -> LineFault {
    LineFault(offset: offset, message: "an unpaired surrogate has no bytes; use \\xHH")
  }
}
