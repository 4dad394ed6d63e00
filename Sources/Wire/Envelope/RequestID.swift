// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The id of a request, kept longer than the message that brought it.
///
/// It goes back exactly as it came. Two ids are the same if they are the same number text, or
/// strings of the same bytes however they were escaped.
public struct RequestID: Sendable, Hashable {
  /// The JSON text as it came.
  public let text: [UInt8]
  private let key: [UInt8]

  /// Copies the JSON text of an id.
  public init(_ text: UnsafeRawBufferPointer) {
    self.text = Array(text)
    key = Self.key(text) ?? self.text
  }

  public static func == (one: RequestID, other: RequestID) -> Bool { one.key == other.key }

  public func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// The string in its shortest form; nil if it is that already, or a number.
  private static func key(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard text.contains(UInt8(ascii: "\\")) else { return nil }
    var reader = JSONReader(text)
    guard let string = try? reader.readString() else { return nil }
    return string.jsonBytes()
  }
}
