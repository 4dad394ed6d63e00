// SPDX-License-Identifier: Apache-2.0

extension UnsafeRawBufferPointer {
  /// The offset of the first `\n`; nil if there is none.
  ///
  /// It compares 16 bytes at a time, because `memchr` would need a C library, and skips 64 bytes at
  /// a time while they contain no `\n`.
  var firstNewline: Int? {
    var offset = 0
    while offset &+ 64 <= count {
      let mask =
        newlines(at: offset) .| newlines(at: offset &+ 16) .| newlines(at: offset &+ 32)
        .| newlines(at: offset &+ 48)
      let found = unsafeBitCast(mask, to: SIMD2<UInt64>.self)
      if found.x | found.y != 0 { break }
      offset &+= 64
    }
    while offset &+ 16 <= count {
      let found = unsafeBitCast(newlines(at: offset), to: SIMD2<UInt64>.self)
      if found.x != 0 { return offset &+ found.x.littleEndian.trailingZeroBitCount / 8 }
      if found.y != 0 { return offset &+ 8 &+ found.y.littleEndian.trailingZeroBitCount / 8 }
      offset &+= 16
    }
    while offset < count {
      if self[offset] == 0x0A { return offset }
      offset &+= 1
    }
    return nil
  }

  /// Returns a mask of 16 bytes: all bits of a byte are 1 where the text has a `\n`, and 0
  /// otherwise.
  @inline(__always)
  private func newlines(at offset: Int) -> SIMDMask<SIMD16<Int8>> {
    loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self) .== SIMD16(repeating: 0x0A)
  }

  /// The bytes after the spaces, tabs and line ends at the start.
  public var withoutLeadingWhiteSpace: UnsafeRawBufferPointer {
    var offset = 0
    while offset < count {
      switch self[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset &+= 1
      default: return from(offset)
      }
    }
    return from(count)
  }

  /// The bytes without one `\r` at the end.
  var withoutCarriageReturn: UnsafeRawBufferPointer {
    last == 0x0D ? first(count &- 1) : self
  }

  /// Returns the first bytes.
  ///
  /// - Precondition: There are at least `count` bytes.
  func first(_ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[..<count])
  }

  /// Returns the bytes from an offset.
  ///
  /// - Precondition: The offset is not after the end.
  func from(_ offset: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[offset...])
  }
}
