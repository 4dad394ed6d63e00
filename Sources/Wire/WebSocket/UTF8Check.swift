// SPDX-License-Identifier: Apache-2.0

/// An incremental check that bytes are valid UTF-8.
///
/// - Source: Unicode 16, table 3-7 (well-formed byte sequences).
struct UTF8Check {
  /// The number of bytes that the current character still needs.
  private var missing: UInt8 = 0
  /// The smallest allowed value of the next byte of the character.
  private var lowest: UInt8 = 0x80
  /// The largest allowed value of the next byte of the character.
  private var highest: UInt8 = 0xBF

  /// True if no character is incomplete.
  var isComplete: Bool { missing == 0 }

  /// Checks the next bytes.
  ///
  /// - Returns: False as soon as no further bytes could make them valid UTF-8.
  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while offset < bytes.count {
      if missing == 0 {
        // Most text is ASCII, which is checked eight bytes at a time.
        while offset &+ 8 <= bytes.count,
          bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        { offset &+= 8 }
        guard offset < bytes.count else { return true }
        guard begin(bytes[offset]) else { return false }
      } else {
        guard lowest <= bytes[offset], bytes[offset] <= highest else { return false }
        missing &-= 1
        (lowest, highest) = (0x80, 0xBF)
      }
      offset &+= 1
    }
    return true
  }

  private mutating func begin(_ first: UInt8) -> Bool {
    switch first {
    case 0x00...0x7F: break
    case 0xC2...0xDF: missing = 1
    case 0xE0: (missing, lowest) = (2, 0xA0)
    case 0xED: (missing, highest) = (2, 0x9F)
    case 0xE1...0xEF: missing = 2
    case 0xF0: (missing, lowest) = (3, 0x90)
    case 0xF4: (missing, highest) = (3, 0x8F)
    case 0xF1...0xF3: missing = 3
    default: return false
    }
    return true
  }
}
