// SPDX-License-Identifier: Apache-2.0

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes; eight at a time, as there is no `memcmp` without a C library.
  @inlinable
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    let count = self.count
    guard count == other.count else { return false }
    var offset = 0
    while offset &+ 8 <= count {
      let own = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard own == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else {
        return false
      }
      offset &+= 8
    }
    while offset < count {
      guard self[offset] == other[offset] else { return false }
      offset &+= 1
    }
    return true
  }

  /// The bytes of a range, which must lie within.
  @inlinable
  func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[range])
  }
}

extension UnsafeMutableRawBufferPointer {
  /// The bytes of a range, which must lie within.
  func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(self).part(range)
  }
}

extension String {
  /// Calls `body` with the UTF-8 bytes, in place.
  @inlinable
  func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    // Native strings always have contiguous storage; and there are no others without Foundation.
    utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
      ?? utf8Span.span.withUnsafeBytes(body)
  }

  /// Whether both have the same UTF-8 bytes, which canonically equivalent strings need not.
  func hasSameBytes(as other: String) -> Bool {
    utf8.count == other.utf8.count
      && withUTF8Bytes { own in other.withUTF8Bytes { own.hasSameBytes(as: $0) } }
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` with a typed error.
  @inlinable
  func withRawBytes<Result, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try span.withUnsafeBytes(body)
  }
}
