// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A string whose equality and hash depend on its UTF-8 bytes, not on canonical equivalence.
public struct ByteString: Hashable, Sendable {
  /// The string itself.
  public let string: String
  /// Wraps a string.
  public init(_ string: String) { self.string = string }

  /// Wraps a string; nil for nil.
  public init?(_ string: String?) {
    guard let string else { return nil }
    self.string = string
  }

  /// Returns true if both have the same UTF-8 bytes.
  public static func == (one: ByteString, other: ByteString) -> Bool {
    one.string.hasSameBytes(as: other.string)
  }

  /// Hashes the UTF-8 bytes.
  public func hash(into hasher: inout Hasher) {
    string.withUTF8Bytes { hasher.combine(bytes: $0) }
  }
}
