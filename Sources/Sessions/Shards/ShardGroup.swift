// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The shards of one server, and the counts of their common limits.
///
/// Inputs use nothing of it. Shards write to it when a session is opened, loaded or ended, when a
/// client is authorised, and when a shard has used up its part of the memory.
public final class ShardGroup: Sendable {
  /// The number of shards.
  public let count: Int
  /// The sessions of all shards.
  let census = SessionCensus()
  /// The number of sessions with a handle that are in memory.
  public var sessionCount: Int { census.count }
  /// The memory for sessions.
  let sessionMemory: MemoryPools
  private let kept = Atomic(0)
  private let bufferMemory = Lock(MemoryPools?.none)
  private let members = Lock([Member]())

  /// A shard and the thread of its jobs.
  public struct Member: Sendable {
    /// The shard.
    public let shard: Shard
    /// Runs a closure on the thread of the shard, after all closures that were passed before.
    public let execute: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Creates a member.
    public init(
      _ shard: Shard, execute: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
      (self.shard, self.execute) = (shard, execute)
    }

    /// Runs `body` in a turn of the shard.
    func turn(_ body: @escaping @Sendable (isolated Shard) -> Void) {
      execute { [shard] in shard.assumeIsolated { shard in shard.turn { body(shard) } } }
    }
  }

  /// Creates a group whose shards are created later.
  ///
  /// - Parameters:
  ///   - count: The number of shards.
  ///   - limits: The limits of the sessions of all shards together.
  public init(count: Int, limits: SessionLimits) {
    self.count = count
    sessionMemory = MemoryPools(
      maximum: limits.bytes, maximumPerIdentity: limits.bytesPerIdentity, shards: count)
  }

  /// Sets the shards, in the order of their places, before the first client connects.
  public func setMembers(_ shards: [Member]) { members.withLock { $0 = shards } }

  /// Returns a shard by its place; nil if the group has only this shard.
  func member(_ index: Int) -> Member? {
    members.withLock { $0.indices.contains(index) ? $0[index] : nil }
  }

  /// The size of the states that the journal keeps aside, in bytes.
  var keptBytes: Int { kept.load(ordering: .relaxed) }

  /// Adds the size of states that the journal keeps aside.
  func add(keptBytes: Int) { kept.add(keptBytes, ordering: .relaxed) }

  /// Returns the memory for the buffers of all connections.
  ///
  /// - Parameter maximum: The maximum number of bytes; the same in each call.
  public func bufferMemory(maximum: Int) -> MemoryPools {
    bufferMemory.withLock { known in
      let pools = known ?? MemoryPools(maximum: maximum, shards: count)
      known = pools
      return pools
    }
  }
}
