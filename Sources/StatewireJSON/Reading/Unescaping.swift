// SPDX-License-Identifier: Apache-2.0

/// Resolves the escapes of a string that the reader has checked.
enum Unescaping {
  static func string(of raw: UnsafeRawBufferPointer) -> String {
    // Resolving never makes the text longer: the longest result, three bytes, comes from six bytes.
    String(unsafeUninitializedCapacity: raw.count) { room in
      unescape(raw, into: UnsafeMutableRawBufferPointer(room))
    }
  }

  /// Writes the bytes that `raw` represents and returns their number.
  ///
  /// For an escape that the reader would reject, the result is unspecified.
  ///
  /// - Precondition: `room` is at least as long as `raw`.
  static func unescape(
    _ raw: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer
  ) -> Int {
    var from = 0
    var to = 0
    while from < raw.count {
      let byte = raw[from]
      guard byte == UInt8(ascii: "\\"), from + 1 < raw.count else {
        room[to] = byte
        from += 1
        to += 1
        continue
      }
      let letter = raw[from + 1]
      guard letter == UInt8(ascii: "u"), from + 6 <= raw.count else {
        room[to] = plain(letter)
        from += 2
        to += 1
        continue
      }
      let first = unit(raw, at: from + 2)
      from += 6
      var scalar = UInt32(first)
      if first & 0xF800 == 0xD800 {
        // A high surrogate directly followed by a low one is one scalar; any other surrogate is
        // alone.
        if first < 0xDC00, let second = lowSurrogate(raw, at: from) {
          scalar = 0x10000 + (UInt32(first & 0x3FF) << 10 | UInt32(second & 0x3FF))
          from += 6
        } else {
          scalar = 0xFFFD
        }
      }
      to = put(scalar, into: room, at: to)
    }
    return to
  }

  private static func plain(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: letter
    }
  }

  private static func lowSurrogate(_ raw: UnsafeRawBufferPointer, at offset: Int) -> UInt16? {
    guard offset + 6 <= raw.count, raw[offset] == UInt8(ascii: "\\"),
      raw[offset + 1] == UInt8(ascii: "u")
    else { return nil }
    let unit = unit(raw, at: offset + 2)
    return unit & 0xFC00 == 0xDC00 ? unit : nil
  }

  /// Returns the value of four hexadecimal digits.
  private static func unit(_ raw: UnsafeRawBufferPointer, at offset: Int) -> UInt16 {
    var unit: UInt16 = 0
    for digit in offset..<offset + 4 {
      // Digits are 0x30…0x39, letters 0x41…0x46 and 0x61…0x66: nine past their low four bits.
      let byte = UInt16(raw[digit])
      unit = unit << 4 | (byte & 0xF) + (byte >> 6) * 9
    }
    return unit
  }

  private static func put(
    _ scalar: UInt32, into room: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Int {
    func trail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(scalar >> shift & 0x3F) }
    switch scalar {
    case 0..<0x80:
      room[offset] = UInt8(scalar)
      return offset + 1
    case 0x80..<0x800:
      room[offset] = 0xC0 | UInt8(scalar >> 6)
      room[offset + 1] = trail(0)
      return offset + 2
    case 0x800..<0x10000:
      room[offset] = 0xE0 | UInt8(scalar >> 12)
      room[offset + 1] = trail(6)
      room[offset + 2] = trail(0)
      return offset + 3
    default:
      room[offset] = 0xF0 | UInt8(scalar >> 18)
      room[offset + 1] = trail(12)
      room[offset + 2] = trail(6)
      room[offset + 3] = trail(0)
      return offset + 4
    }
  }
}
