// SPDX-License-Identifier: Apache-2.0

/// A writer of compact JSON text into its own storage.
///
/// The writer adds commas: before a key or an element that is not the first of its container. The
/// caller is responsible for a valid order of calls; the writer does not check it, and a wrong
/// order affects only the text.
///
/// The `raw` methods write bytes without changes and add no comma, neither before them nor before
/// the next value. Several messages can therefore be written one after another, with a `raw`
/// newline between them.
public struct JSONWriter: ~Copyable {
  @usableFromInline var storage: UnsafeMutableRawBufferPointer
  /// The number of bytes written.
  public internal(set) var count = 0
  @usableFromInline var needsComma = false
  /// The values that compute their own differences, with the offsets of the `null`s at their
  /// positions; nil if such values are written as text.
  var leaves: [JSONLeaf]?

  /// Creates a writer.
  ///
  /// - Parameter capacity: The initial capacity in bytes; the storage grows as needed.
  public init(reserving capacity: Int = 0) {
    storage =
      capacity > 0 ? .allocate(byteCount: capacity, alignment: 1) : .init(start: nil, count: 0)
  }

  deinit {
    storage.deallocate()
  }
}

// MARK: - The text

extension JSONWriter {
  /// Calls `body` with the bytes written; they are valid only inside it.
  @inlinable
  public func withBytes<Result: ~Copyable, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: storage.baseAddress, count: count))
  }

  /// Returns a copy of the bytes written.
  public func bytes() -> [UInt8] {
    withBytes { bytes in [UInt8](bytes) }
  }

  /// Returns the text written.
  public func string() -> String {
    withBytes { bytes in String(decoding: bytes, as: UTF8.self) }
  }

  /// Removes everything that was written.
  public mutating func removeAll(keepingCapacity: Bool = true) {
    if !keepingCapacity {
      storage.deallocate()
      storage = .init(start: nil, count: 0)
    }
    count = 0
    needsComma = false
    leaves?.removeAll(keepingCapacity: keepingCapacity)
  }

  /// Removes everything after the first `count` bytes.
  ///
  /// - Precondition: `count` is an earlier value of the writer's `count`.
  public mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= self.count)
    self.count = count
    switch count == 0 ? nil : storage[count - 1] {
    case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: ","),
      UInt8(ascii: "\n"):
      needsComma = false
    default:
      needsComma = true
    }
    while let last = leaves?.last, last.offset >= count { leaves?.removeLast() }
  }
}

// MARK: - Raw bytes

extension JSONWriter {
  // Always inlined: the length of a literal is then known to the compiler, and copying it becomes a
  // few moves.
  /// Writes literal text without changes.
  @inlinable
  @inline(__always)
  public mutating func raw(_ text: StaticString) {
    literal(text)
    needsComma = false
  }

  @inlinable
  @inline(__always)
  mutating func literal(_ text: StaticString) {
    guard text.hasPointerRepresentation else {
      return text.withUTF8Buffer { append(UnsafeRawBufferPointer($0)) }
    }
    let count = text.utf8CodeUnitCount
    if storage.count &- self.count < count { grow(by: count) }
    guard let base = storage.baseAddress else { return }
    base.advanced(by: self.count).copyMemory(from: text.utf8Start, byteCount: count)
    advance(by: count)
  }

  /// Writes bytes without changes.
  @inlinable
  public mutating func raw(_ bytes: UnsafeRawBufferPointer) {
    append(bytes)
    needsComma = false
  }

  /// Writes bytes without changes.
  @inlinable
  public mutating func raw(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
    needsComma = false
  }

  /// Inserts bytes at an offset of the text.
  ///
  /// - Precondition: `place` is an earlier value of the writer's `count`.
  /// - Complexity: O(number of bytes after `place`).
  public mutating func insert(_ bytes: UnsafeRawBufferPointer, at place: Int) {
    precondition(place >= 0 && place <= count)
    let moved = count - place
    if storage.count - count < bytes.count { grow(by: bytes.count) }
    guard let start = storage.baseAddress?.advanced(by: place), let inserted = bytes.baseAddress
    else { return }
    start.advanced(by: bytes.count).copyMemory(from: UnsafeRawPointer(start), byteCount: moved)
    start.copyMemory(from: inserted, byteCount: bytes.count)
    count += bytes.count
    if let kept = leaves {
      leaves = kept.map { leaf in
        var leaf = leaf
        if leaf.offset >= place { leaf.offset += bytes.count }
        return leaf
      }
    }
  }

  /// Writes one byte without changes.
  @inlinable
  @inline(__always)
  public mutating func raw(byte: UInt8) {
    append(byte)
    needsComma = false
  }

  @inlinable
  @inline(__always)
  mutating func append(_ byte: UInt8) {
    if count == storage.count { grow(by: 1) }
    storage[count] = byte
    advance(by: 1)
  }

  @inlinable
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    let count = bytes.count
    if storage.count &- self.count < count { grow(by: count) }
    guard count > 0, let base = storage.baseAddress, let start = bytes.baseAddress else { return }
    let room = base.advanced(by: self.count)
    // Most byte sequences are short. Copying a few bytes at a time, and the last of them twice, is
    // faster than a call.
    switch count {
    case 1..<4:
      room.copy(UInt8.self, from: start, at: 0)
      room.copy(UInt8.self, from: start, at: count / 2)
      room.copy(UInt8.self, from: start, at: count &- 1)
    case 4..<8:
      room.copy(UInt32.self, from: start, at: 0)
      room.copy(UInt32.self, from: start, at: count &- 4)
    case 8...64:
      let last = count &- 8
      var offset = 0
      while offset < last {
        room.copy(UInt64.self, from: start, at: offset)
        offset &+= 8
      }
      room.copy(UInt64.self, from: start, at: last)
    default:
      room.copyMemory(from: start, byteCount: count)
    }
    advance(by: count)
  }

  /// Returns space for this many bytes at the end; `advance(by:)` adds the bytes written there to
  /// the text.
  @inlinable
  @inline(__always)
  mutating func room(_ count: Int) -> UnsafeMutableRawBufferPointer {
    if storage.count &- self.count < count { grow(by: count) }
    return UnsafeMutableRawBufferPointer(
      start: storage.baseAddress?.advanced(by: self.count), count: count)
  }

  @usableFromInline
  @inline(__always)
  mutating func advance(by count: Int) {
    self.count &+= count
    #if FUZZING
      JSONWork.bytes += count
    #endif
  }

  /// Grows the capacity to some bytes in total.
  public mutating func reserve(_ capacity: Int) {
    if capacity > storage.count { grow(by: capacity - count) }
  }

  /// Grows the capacity to the length of the previous text and an eighth more, because numbers may
  /// have grown. Growing step by step would copy the text repeatedly.
  public mutating func reserve(likeLastTime count: Int) { reserve(count + count / 8) }

  @inline(never)
  @usableFromInline
  mutating func grow(by count: Int) {
    let capacity = max(storage.count * 2, self.count + count, 128)
    let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
    if self.count > 0 { grown.copyMemory(from: .init(rebasing: storage[..<self.count])) }
    storage.deallocate()
    storage = grown
  }
}

extension UnsafeMutableRawPointer {
  /// Copies the bytes of one word from the same offset of other memory, without alignment.
  @inlinable
  @inline(__always)
  func copy<Word: BitwiseCopyable>(_ type: Word.Type, from other: UnsafeRawPointer, at offset: Int)
  {
    storeBytes(
      of: other.loadUnaligned(fromByteOffset: offset, as: type), toByteOffset: offset, as: type)
  }
}
