// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

extension String {
  /// Calls `body` with the UTF-8 bytes, without copying where they lie in one piece.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if let result = utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
      return result
    }
    return Array(utf8).withUnsafeBytes(body)
  }

  /// Whether two strings are the same bytes; canonical equivalence is not enough on a wire.
  func hasSameBytes(as other: String) -> Bool {
    withBytes { mine in
      other.withBytes { theirs in
        mine.hasSameBytes(as: theirs)
      }
    }
  }
}

/// A string that is equal and hashed by its UTF-8 bytes.
public struct ByteString: Hashable, Sendable {
  public let string: String
  public init(_ string: String) { self.string = string }

  public static func == (one: ByteString, other: ByteString) -> Bool {
    one.string.hasSameBytes(as: other.string)
  }

  public func hash(into hasher: inout Hasher) {
    string.withBytes { hasher.combine(bytes: $0) }
  }
}
