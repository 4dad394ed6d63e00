// SPDX-License-Identifier: Apache-2.0

extension UnsafeRawBufferPointer {
  /// Returns true if both contain the same bytes. It compares eight bytes at a time, because
  /// `memcmp` would need a C library.
  @inlinable
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    let count = self.count
    guard count == other.count else { return false }
    guard count >= 8 else {
      var offset = 0
      if count >= 4 {
        guard
          loadUnaligned(as: UInt32.self) == other.loadUnaligned(as: UInt32.self)
        else { return false }
        offset = 4
      }
      while offset < count {
        guard self[offset] == other[offset] else { return false }
        offset &+= 1
      }
      return true
    }
    // The last eight bytes may overlap bytes that were compared before.
    let last = count &- 8
    var offset = 0
    while offset < last {
      guard
        loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      else { return false }
      offset &+= 8
    }
    return loadUnaligned(fromByteOffset: last, as: UInt64.self)
      == other.loadUnaligned(fromByteOffset: last, as: UInt64.self)
  }

  /// Returns the bytes of a range, which must lie within the buffer.
  @inlinable
  func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[range])
  }

  /// Returns the bytes from one offset to another; both must lie within the buffer.
  @inlinable
  package func part(from start: Int, to end: Int) -> UnsafeRawBufferPointer {
    assert(0 <= start && start <= end && end <= count)
    return UnsafeRawBufferPointer(start: baseAddress?.advanced(by: start), count: end &- start)
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Returns the bytes of a range, which must lie within the buffer.
  func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(self).part(range)
  }
}

extension String {
  /// Calls `body` with the UTF-8 bytes; they are not copied.
  @inlinable
  @inline(__always)
  package func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    // Native strings always have contiguous storage, and without Foundation all strings are native.
    utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
      ?? utf8Span.span.withUnsafeBytes(body)
  }

  /// Returns true if both have the same UTF-8 bytes. Canonically equivalent strings may have
  /// different bytes; on a wire they are different.
  @inlinable
  package func hasSameBytes(as other: String) -> Bool {
    utf8.count == other.utf8.count
      && withUTF8Bytes { own in other.withUTF8Bytes { own.hasSameBytes(as: $0) } }
  }
}

extension [UInt8] {
  /// Calls `body` as `withUnsafeBytes` does, with a typed error.
  @inlinable
  package func withRawBytes<Result, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try span.withUnsafeBytes(body)
  }
}

extension Array {
  /// Returns true if both are copies of one array that neither has changed.
  package func sharesMemory(with other: Array) -> Bool {
    withUnsafeBufferPointer { own in
      other.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress && own.count == $0.count }
    }
  }
}
