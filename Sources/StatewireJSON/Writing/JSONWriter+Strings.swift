// SPDX-License-Identifier: Apache-2.0

extension JSONWriter {
  /// Writes a string in quotation marks, without a comma.
  ///
  /// It escapes only the characters that RFC 8259 §7 requires: quotation mark, backslash and
  /// control characters, the latter in their short form if there is one. This is the form of RFC
  /// 8785 §3.2.2.2.
  @usableFromInline
  mutating func string(_ value: String) {
    value.withUTF8Bytes { string(utf8: $0) }
  }

  /// Writes a string of valid UTF-8 in quotation marks, without a comma.
  mutating func string(utf8 bytes: UnsafeRawBufferPointer) {
    let count = bytes.count
    let room = room(Self.plainBytes(count) &+ 2)
    room[0] = UInt8(ascii: "\"")
    let plain = Self.copyPlain(bytes, to: UnsafeMutableRawBufferPointer(rebasing: room[1...]))
    if plain == count {
      room[count &+ 1] = UInt8(ascii: "\"")
      advance(by: count &+ 2)
    } else {
      advance(by: plain &+ 1)
      escape(bytes.part(plain..<count))
      append(UInt8(ascii: "\""))
    }
    needsComma = true
  }

  /// Writes the contents of a string, without quotation marks.
  mutating func contents(utf8 bytes: UnsafeRawBufferPointer) {
    let plain = Self.copyPlain(bytes, to: room(Self.plainBytes(bytes.count)))
    advance(by: plain)
    if plain < bytes.count { escape(bytes.part(plain..<bytes.count)) }
  }

  /// The space that `copyPlain` needs for a number of bytes: it stores eight of them together.
  private static func plainBytes(_ count: Int) -> Int { max(count, 8) }

  /// Copies the bytes before the first one that has to be escaped, and returns their number. Most
  /// strings need no escape, so bytes are copied and checked together.
  @inline(__always)
  private static func copyPlain(
    _ bytes: UnsafeRawBufferPointer, to room: UnsafeMutableRawBufferPointer
  ) -> Int {
    let count = bytes.count
    if count < 8 {
      let word = bytes.shortWord
      if !Escaping.isNeeded(in: word) {
        room.storeBytes(of: word, as: UInt64.self)
        return count
      }
    }
    var offset = 0
    while offset &+ 8 <= count {
      let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if Escaping.isNeeded(in: word) { break }
      room.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    if offset > 0, count &- offset < 8 {
      // The last eight bytes are copied again; those of them that were checked before need no
      // escape.
      let last = count &- 8
      let word = bytes.loadUnaligned(fromByteOffset: last, as: UInt64.self)
      if !Escaping.isNeeded(in: word) {
        room.storeBytes(of: word, toByteOffset: last, as: UInt64.self)
        offset = count
      }
    }
    while offset < count, !Escaping.isNeeded(for: bytes[offset]) {
      room[offset] = bytes[offset]
      offset &+= 1
    }
    return offset
  }

  /// Writes the rest of a string, whose first byte has to be escaped.
  private mutating func escape(_ bytes: UnsafeRawBufferPointer) {
    var start = 0
    for offset in 0..<bytes.count where Escaping.isNeeded(for: bytes[offset]) {
      append(bytes.part(start..<offset))
      start = offset + 1
      append(UInt8(ascii: "\\"))
      let byte = bytes[offset]
      if let letter = Escaping.letter(for: byte) {
        append(letter)
      } else {
        let hex: StaticString = "0123456789abcdef"
        raw("u00")
        append(hex.utf8Start[Int(byte >> 4)])
        append(hex.utf8Start[Int(byte & 0xF)])
      }
    }
    append(bytes.part(start..<bytes.count))
  }

  /// Writes a number's text, without a comma.
  @usableFromInline
  mutating func string(unescaped text: String) {
    text.withUTF8Bytes { append($0) }
    needsComma = true
  }
}

extension UnsafeRawBufferPointer {
  /// Fewer than eight bytes in the order of memory, followed by spaces.
  ///
  /// The parts of a word that are read may overlap; they have the same bits there.
  @inline(__always)
  fileprivate var shortWord: UInt64 {
    let word: UInt64
    if count >= 4 {
      let last = count &- 4
      word =
        UInt64(loadUnaligned(as: UInt32.self).littleEndian)
        | UInt64(loadUnaligned(fromByteOffset: last, as: UInt32.self).littleEndian)
        &<< UInt64(8 &* last)
    } else if count > 0 {
      let (middle, last) = (count / 2, count &- 1)
      word =
        UInt64(self[0]) | UInt64(self[middle]) &<< UInt64(8 &* middle)
        | UInt64(self[last]) &<< UInt64(8 &* last)
    } else {
      word = 0
    }
    return (word | 0x2020_2020_2020_2020 &<< UInt64(8 &* count)).littleEndian
  }
}

extension StaticString {
  /// True if it can be written between quotation marks without escapes.
  @usableFromInline
  var isPlain: Bool {
    withUTF8Buffer { !$0.contains(where: Escaping.isNeeded(for:)) }
  }
}

/// The bytes that have to be escaped in a string.
private enum Escaping {
  @inline(__always)
  static func isNeeded(for byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Returns true if one of eight bytes has to be escaped; rarely also if none has, because a
  /// subtraction may borrow from a neighbouring byte.
  @inline(__always)
  static func isNeeded(in word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let marks =
      (quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word
    return marks & (ones &* 0x80) != 0
  }

  static func letter(for byte: UInt8) -> UInt8? {
    switch byte {
    case 0x08: UInt8(ascii: "b")
    case 0x09: UInt8(ascii: "t")
    case 0x0A: UInt8(ascii: "n")
    case 0x0C: UInt8(ascii: "f")
    case 0x0D: UInt8(ascii: "r")
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
    default: nil
    }
  }
}
