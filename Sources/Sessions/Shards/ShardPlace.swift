// SPDX-License-Identifier: Apache-2.0

/// The place of a shard among the shards of a server.
public struct ShardPlace: Sendable, Equatable {
  /// The index of the shard.
  public let index: Int
  /// The number of shards.
  public let count: Int

  /// The place of the only shard of a server.
  public static let alone = ShardPlace(index: 0, count: 1)

  /// Creates a place.
  ///
  /// - Precondition: `index` is at least 0 and less than `count`.
  public init(index: Int, count: Int) {
    precondition((0..<count).contains(index), "a shard needs a place among the shards")
    (self.index, self.count) = (index, count)
  }

  /// Returns true if the shard owns the session with a handle.
  func owns(_ handle: SessionHandle) -> Bool { handle.shard(of: count) == index }
}

extension Shard {
  /// Returns the index of the shard that owns a session; nil if it is this one, or if the text is
  /// not a handle.
  public nonisolated func otherOwner(of handle: String) -> Int? {
    guard place.count > 1, let handle = SessionHandle(handle), !place.owns(handle) else {
      return nil
    }
    return handle.shard(of: place.count)
  }
}

extension SessionHandle {
  /// Returns the index of the shard that owns the session.
  ///
  /// It depends only on the handle and the number of shards. A server with another number of
  /// shards finds all sessions of the journal, and no table of sessions is needed.
  public func shard(of count: Int) -> Int { Int(low % UInt64(count)) }
}
