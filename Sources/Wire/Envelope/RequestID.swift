// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A copy of the id of a request, which can outlive the message.
///
/// The response contains the id exactly as the client sent it. Two ids are the same if they are the
/// same text of a number, or strings of the same bytes regardless of escapes.
public struct RequestID: Sendable, Hashable {
  /// The JSON text as the client sent it.
  public let text: [UInt8]
  private let key: [UInt8]

  /// Copies the JSON text of an id.
  public init(_ text: UnsafeRawBufferPointer) {
    self.text = Array(text)
    key = Self.key(text) ?? self.text
  }

  /// Returns true if both are the same text of a number or the same string.
  public static func == (one: RequestID, other: RequestID) -> Bool { one.key == other.key }

  /// Hashes the text of a number or the unescaped string.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// Returns a string in its shortest form; nil if it is already in that form, or is not a string.
  private static func key(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard text.contains(UInt8(ascii: "\\")) else { return nil }
    var reader = JSONReader(text)
    guard let string = try? reader.readString() else { return nil }
    return string.jsonBytes()
  }
}
