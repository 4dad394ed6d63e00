// SPDX-License-Identifier: Apache-2.0

extension UnsafeRawBufferPointer {
  /// The offset of the first `\n`; eight bytes at a time, as there is no `memchr` without a C
  /// library.
  var firstNewline: Int? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let newlines = ones &* 0x0A
    var offset = 0
    while offset &+ 8 <= count {
      let word = loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian ^ newlines
      // The lowest bit set here is the top bit of the first byte that is zero; higher ones may
      // be wrong.
      let zeros = (word &- ones) & ~word & (ones &* 0x80)
      if zeros != 0 { return offset &+ zeros.trailingZeroBitCount / 8 }
      offset &+= 8
    }
    while offset < count {
      if self[offset] == 0x0A { return offset }
      offset &+= 1
    }
    return nil
  }

  /// What is left behind the spaces, tabs and line ends at the start.
  var withoutLeadingWhiteSpace: UnsafeRawBufferPointer {
    var offset = 0
    while offset < count {
      switch self[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset &+= 1
      default: return from(offset)
      }
    }
    return from(count)
  }

  /// All but one `\r` at the end.
  var withoutCarriageReturn: UnsafeRawBufferPointer {
    last == 0x0D ? first(count &- 1) : self
  }

  /// The first bytes; there must be so many.
  func first(_ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[..<count])
  }

  /// The bytes from an offset on, which must not lie behind the end.
  func from(_ offset: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[offset...])
  }
}
