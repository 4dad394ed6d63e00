// SPDX-License-Identifier: Apache-2.0

extension UnsafeRawBufferPointer {
  /// The offset of the first `\n`; sixteen bytes at a time, as there is no `memchr` without a C
  /// library, and where there is none for long, sixty-four.
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

  /// Of sixteen bytes those that are a `\n`: each is all ones then, and zero otherwise.
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
