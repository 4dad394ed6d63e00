// SPDX-License-Identifier: Apache-2.0

/// A string as it stands in the text, between its quotation marks; most often an object's key.
///
/// Comparing it with a literal allocates nothing, so reading an object is a `switch`:
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
/// Like the reader it comes from, it does not own its bytes and must not outlive them.
public struct JSONKey {
  /// The bytes between the quotation marks, escapes and all; valid UTF-8, escapes well formed.
  public let rawBytes: UnsafeRawBufferPointer
  /// Whether there is an escape among them.
  public let isEscaped: Bool

  @inlinable
  init(rawBytes: UnsafeRawBufferPointer, isEscaped: Bool) {
    self.rawBytes = rawBytes
    self.isEscaped = isEscaped
  }

  /// The text, with its escapes resolved.
  public var string: String {
    isEscaped
      ? Unescaping.string(of: rawBytes)
      : String(decoding: rawBytes, as: UTF8.self)
  }

  /// Calls `body` with the UTF-8 bytes of the text, its escapes resolved.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    guard isEscaped else { return body(rawBytes) }
    return withUnsafeTemporaryAllocation(byteCount: rawBytes.count, alignment: 1) { room in
      let count = Unescaping.unescape(rawBytes, into: room)
      return body(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }
  }
}

extension JSONKey {
  @inlinable
  @inline(__always)
  public static func == (key: JSONKey, text: StaticString) -> Bool {
    // Most keys differ in length already.
    if !key.isEscaped && text.hasPointerRepresentation {
      guard key.rawBytes.count == text.utf8CodeUnitCount else { return false }
      let bytes = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
      return key.rawBytes.hasSameBytes(as: bytes)
    }
    return key.isSame(as: text)
  }

  @inlinable
  public static func != (key: JSONKey, text: StaticString) -> Bool { !(key == text) }

  /// What makes `switch key { case "title": … }` work.
  @inlinable
  public static func ~= (text: StaticString, key: JSONKey) -> Bool { key == text }

  /// The slow way, for keys with escapes.
  @usableFromInline
  func isSame(as text: StaticString) -> Bool {
    text.withUTF8Buffer { other in
      withBytes { $0.hasSameBytes(as: UnsafeRawBufferPointer(other)) }
    }
  }

  /// Whether the text has the same UTF-8 bytes.
  public func isSame(as text: String) -> Bool {
    text.withUTF8Bytes { other in withBytes { $0.hasSameBytes(as: other) } }
  }

  /// Whether the text has these UTF-8 bytes.
  public func isSame(as bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { other in withBytes { $0.hasSameBytes(as: other) } }
  }

  /// Whether both are the same text, however they are escaped.
  func isSame(as other: JSONKey) -> Bool {
    if !isEscaped && !other.isEscaped { return rawBytes.hasSameBytes(as: other.rawBytes) }
    return withBytes { own in other.withBytes { own.hasSameBytes(as: $0) } }
  }
}
