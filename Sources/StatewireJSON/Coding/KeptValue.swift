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

  /// Keeps a value.
  ///
  /// - Returns: Nil if it refers to an object that is not of the standard library: the contents of
  ///   such an object may change while its address stays.
  init?<T>(_ value: T) {
    guard let bytes = Self.bytes(of: T.self) else { return nil }
    type = ObjectIdentifier(T.self)
    self.bytes = bytes
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

  /// Returns the bytes of a type's values that are not padding between the members of structures; nil
  /// if they contain an object.
  private static func bytes(of type: Any.Type) -> [Range<Int>]? {
    var ranges: [Range<Int>] = []
    return addBytes(of: type, at: 0, to: &ranges) ? ranges : nil
  }

  private static func addBytes(
    of type: Any.Type, at offset: Int, to ranges: inout [Range<Int>]
  ) -> Bool {
    if type is AnyClass, !String(reflecting: type).hasPrefix("Swift.") { return false }
    if let optional = type as? any Wrapping.Type {
      var wrapped: [Range<Int>] = []
      guard addBytes(of: optional.wrapped, at: 0, to: &wrapped) else { return false }
    }
    let fields = type is AnyClass ? [] : storedFields(of: type)
    if !fields.isEmpty {
      return fields.allSatisfy { addBytes(of: $0.type, at: offset + $0.offset, to: &ranges) }
    }
    let range = offset..<offset + size(of: type)
    if let last = ranges.last, last.upperBound == range.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
    } else if !range.isEmpty {
      ranges.append(range)
    }
    return true
  }

  private static func size<T>(of type: T.Type) -> Int { MemoryLayout<T>.size }
}

/// A type whose values contain a value of another type, or none: optionals.
private protocol Wrapping {
  static var wrapped: Any.Type { get }
}

extension Optional: Wrapping {
  fileprivate static var wrapped: Any.Type { Wrapped.self }
}
