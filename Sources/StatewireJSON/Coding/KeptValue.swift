// SPDX-License-Identifier: Apache-2.0

/// A value of any type, kept in order to be compared with a later one by its bytes.
///
/// Values with the same bytes are the same: memory to which they refer is not used again while the
/// value is kept, and is copied when a value is changed. Values with different bytes may be equal,
/// for example two strings of the same characters.
final class KeptValue {
  private let type: ObjectIdentifier
  /// The bytes of the value that are not padding.
  private let bytes: [Range<Int>]
  private let memory: UnsafeMutableRawPointer
  private let deinitialize: (UnsafeMutableRawPointer) -> Void

  init<T>(_ value: T) {
    type = ObjectIdentifier(T.self)
    bytes = Self.bytes(of: T.self)
    memory = .allocate(byteCount: MemoryLayout<T>.size, alignment: MemoryLayout<T>.alignment)
    memory.initializeMemory(as: T.self, to: value)
    deinitialize = { $0.assumingMemoryBound(to: T.self).deinitialize(count: 1) }
  }

  deinit {
    deinitialize(memory)
    memory.deallocate()
  }

  func isOf<T>(_ type: T.Type) -> Bool { self.type == ObjectIdentifier(type) }

  /// Returns true if a value has the same type and the same bytes.
  func isSame<T>(as value: T) -> Bool {
    guard isOf(T.self) else { return false }
    return withUnsafeBytes(of: value, hasSameBytes)
  }

  private func hasSameBytes(_ other: UnsafeRawBufferPointer) -> Bool {
    let kept = UnsafeRawBufferPointer(start: memory, count: other.count)
    for range in bytes where !kept.part(range).hasSameBytes(as: other.part(range)) { return false }
    return true
  }

  /// Replaces the value by one of the same type.
  func replace<T>(by value: T) { memory.assumingMemoryBound(to: T.self).pointee = value }

  /// Returns the bytes of a type's values that are not padding between the members of structures.
  private static func bytes(of type: Any.Type) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    addBytes(of: type, at: 0, to: &ranges)
    return ranges
  }

  private static func addBytes(of type: Any.Type, at offset: Int, to ranges: inout [Range<Int>]) {
    let fields = storedFields(of: type)
    if !fields.isEmpty {
      for field in fields { addBytes(of: field.type, at: offset + field.offset, to: &ranges) }
      return
    }
    let range = offset..<offset + size(of: type)
    if let last = ranges.last, last.upperBound == range.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
    } else if !range.isEmpty {
      ranges.append(range)
    }
  }

  private static func size<T>(of type: T.Type) -> Int { MemoryLayout<T>.size }
}
