// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// What is held back of a text that a peer follows, until a `FollowerRound` ends.
struct HeldText {
  private var parts: [ByteBuffer] = []
  private(set) var byteCount = 0

  var isEmpty: Bool { parts.isEmpty }
  /// Whether it is to go out before its time.
  var isFull: Bool { byteCount >= Self.maximumBytes }

  mutating func add(_ part: ByteBuffer) {
    parts.append(part)
    byteCount += part.readableBytes
  }

  /// Hands over all there is, in its order.
  mutating func takeAll(_ take: (ByteBuffer) -> Void) {
    for part in parts { take(part) }
    // What a larger round has needed is given back.
    parts.removeAll(keepingCapacity: parts.count <= Self.keptParts)
    byteCount = 0
  }

  private static let maximumBytes = 64 << 10
  private static let keptParts = 8
}
