// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A string that is equal and hashed by its UTF-8 bytes.
public struct ByteString: Hashable, Sendable {
  public let string: String
  public init(_ string: String) { self.string = string }

  public static func == (one: ByteString, other: ByteString) -> Bool {
    one.string.hasSameBytes(as: other.string)
  }

  public func hash(into hasher: inout Hasher) {
    string.withUTF8Bytes { hasher.combine(bytes: $0) }
  }
}
