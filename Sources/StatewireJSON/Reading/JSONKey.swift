// SPDX-License-Identifier: Apache-2.0

/// A string as it is written in the text, between its quotation marks; usually the key of a member.
///
/// Comparing it with a literal allocates no memory, so an object is read by a `switch`:
///
/// ```swift
/// while let key = try reader.nextKey() {
///   switch key {
///   case "title": title = try reader.readString()
///   default: try reader.skipValue()
///   }
/// }
/// ```
///
/// Like the reader that returned it, the key does not own its bytes and must not outlive them.
public struct JSONKey {
  /// The bytes between the quotation marks with their escapes: valid UTF-8, escapes well formed.
  public let rawBytes: UnsafeRawBufferPointer
  /// True if the bytes contain an escape.
  public let isEscaped: Bool

  @inlinable
  init(rawBytes: UnsafeRawBufferPointer, isEscaped: Bool) {
    self.rawBytes = rawBytes
    self.isEscaped = isEscaped
  }

  /// The text, with escapes resolved.
  ///
  /// - Complexity: O(length).
  public var string: String {
    isEscaped
      ? Unescaping.string(of: rawBytes)
      : String(decoding: rawBytes, as: UTF8.self)
  }

  /// Calls `body` with the UTF-8 bytes of the text, with escapes resolved.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    guard isEscaped else { return body(rawBytes) }
    return withUnsafeTemporaryAllocation(byteCount: rawBytes.count, alignment: 1) { room in
      let count = Unescaping.unescape(rawBytes, into: room)
      return body(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }
  }
}

extension JSONKey {
  /// Returns true if the text of the key is this literal.
  @inlinable
  @inline(__always)
  public static func == (key: JSONKey, text: StaticString) -> Bool {
    // Most keys already differ in length.
    if !key.isEscaped && text.hasPointerRepresentation {
      guard key.rawBytes.count == text.utf8CodeUnitCount else { return false }
      let bytes = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
      return key.rawBytes.hasSameBytes(as: bytes)
    }
    return key.isSame(as: text)
  }

  /// Returns true if the text of the key is not this literal.
  @inlinable
  public static func != (key: JSONKey, text: StaticString) -> Bool { !(key == text) }

  /// Matches a literal in `switch key { case "title": … }`.
  @inlinable
  public static func ~= (text: StaticString, key: JSONKey) -> Bool { key == text }

  /// Compares a key that contains escapes.
  @usableFromInline
  func isSame(as text: StaticString) -> Bool {
    text.withUTF8Buffer { other in
      withBytes { $0.hasSameBytes(as: UnsafeRawBufferPointer(other)) }
    }
  }

  /// Returns true if the text has the same UTF-8 bytes as a string.
  public func isSame(as text: String) -> Bool {
    text.withUTF8Bytes { other in withBytes { $0.hasSameBytes(as: other) } }
  }

  /// Returns true if the text has these UTF-8 bytes.
  public func isSame(as bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { other in withBytes { $0.hasSameBytes(as: other) } }
  }

  /// Returns true if both are the same text, regardless of escapes.
  func isSame(as other: JSONKey) -> Bool {
    if !isEscaped && !other.isEscaped { return rawBytes.hasSameBytes(as: other.rawBytes) }
    return withBytes { own in other.withBytes { own.hasSameBytes(as: $0) } }
  }
}
