// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
  /// Reads the string whose opening quotation mark is the next byte; checks escapes and UTF-8.
  @usableFromInline
  mutating func scanString() throws(JSONError) -> JSONKey {
    let start = at &+ 1
    let plainEnd = plainStringEnd(from: start)
    if plainEnd >= 0 {
      at = plainEnd
      return JSONKey(rawBytes: text.part(from: start, to: plainEnd &- 1), isEscaped: false)
    }
    var offset = start
    var isEscaped = false
    while true {
      while offset &+ 8 <= end {
        let word = UInt64(
          littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let stops = Self.stops(in: word)
        guard stops == 0 else {
          offset &+= stops.trailingZeroBitCount >> 3
          break
        }
        offset &+= 8
      }
      guard offset < end else { throw fail(.syntax, "the string does not end", at: end) }
      let byte = text[offset]
      if byte == UInt8(ascii: "\"") {
        at = offset &+ 1
        return JSONKey(rawBytes: text.part(start..<offset), isEscaped: isEscaped)
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
        offset = try checkEscape(at: offset)
      } else if byte < 0x20 {
        throw fail(.syntax, "a control character in a string is not escaped", at: offset)
      } else if byte < 0x80 {
        offset &+= 1
      } else {
        let length = scalarLength(at: offset)
        guard length > 0 else { throw fail(.utf8, "the text is not valid UTF-8", at: offset) }
        offset &+= length
      }
    }
  }

  /// Returns a word with the top bit set for bytes that need a check: quotation mark, backslash,
  /// control character, not ASCII.
  ///
  /// Only the lowest mark is reliable: a subtraction may borrow from the bytes above it.
  @inline(__always)
  static func stops(in word: UInt64) -> UInt64 {
    #if FUZZING
      // Each byte is checked.
      if FastPaths.areOff { return 0x80 }
    #endif
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let marks =
      (quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word
      | word
    return marks & (ones &* 0x80)
  }

  /// Checks the escape that starts here and returns the offset after it.
  private func checkEscape(at offset: Int) throws(JSONError) -> Int {
    guard offset &+ 1 < end else { throw fail(.syntax, "the string does not end", at: end) }
    switch text[offset &+ 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return offset &+ 2
    case UInt8(ascii: "u"):
      for digit in offset &+ 2..<offset &+ 6 {
        guard digit < end else { throw fail(.syntax, "the string does not end", at: end) }
        switch text[digit] {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: continue
        default: throw fail(.syntax, "\\u needs four hexadecimal digits", at: digit)
        }
      }
      return offset &+ 6
    default:
      throw fail(.syntax, "unknown escape", at: offset)
    }
  }

  /// Returns the length of the scalar here in bytes; 0 if they are not valid UTF-8.
  ///
  /// - Source: The Unicode Standard, table 3-7 (well-formed UTF-8 byte sequences).
  private func scalarLength(at offset: Int) -> Int {
    func isTrail(_ distance: Int) -> Bool {
      offset &+ distance < end && text[offset &+ distance] & 0xC0 == 0x80
    }
    let lead = text[offset]
    switch lead {
    case 0xC2...0xDF:
      return isTrail(1) ? 2 : 0
    case 0xE0...0xEF:
      guard isTrail(1), isTrail(2) else { return 0 }
      let second = text[offset &+ 1]
      if lead == 0xE0 && second < 0xA0 { return 0 }
      if lead == 0xED && second > 0x9F { return 0 }
      return 3
    case 0xF0...0xF4:
      guard isTrail(1), isTrail(2), isTrail(3) else { return 0 }
      let second = text[offset &+ 1]
      if lead == 0xF0 && second < 0x90 { return 0 }
      if lead == 0xF4 && second > 0x8F { return 0 }
      return 4
    default:
      return 0
    }
  }
}
