// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import Synchronization

/// The memory that all shards of a server may use: a pool of all bytes, and a pool of each
/// identity.
///
/// Each shard counts its bytes itself (`ByteAccount`), and takes bytes from a pool in large parts.
/// So an input writes only to memory of its shard.
public final class MemoryPools: Sendable {
  let all: BytePool
  private let maximumPerIdentity: Int
  private let shards: Int
  private let identities = Lock([ByteString: BytePool]())

  /// Creates pools.
  ///
  /// - Parameters:
  ///   - maximum: The maximum number of bytes in total.
  ///   - maximumPerIdentity: The maximum number of bytes of one identity; nil for half of
  ///     `maximum`.
  ///   - shards: The number of shards.
  public init(maximum: Int, maximumPerIdentity: Int? = nil, shards: Int = 1) {
    all = BytePool(maximum: maximum, shards: shards)
    self.maximumPerIdentity = maximumPerIdentity ?? max(1, maximum / 2)
    self.shards = shards
  }

  /// Returns the pool of an identity.
  func pool(of identity: ByteString) -> BytePool {
    identities.withLock { identities in
      if let pool = identities[identity] { return pool }
      let pool = BytePool(maximum: maximumPerIdentity, shards: shards)
      identities[identity] = pool
      return pool
    }
  }
}

/// A number of bytes that shards take parts of.
final class BytePool: Sendable {
  /// The maximum number of bytes.
  let maximum: Int
  /// The number of bytes of a part: small enough that the parts that shards do not use are a
  /// fraction of the maximum.
  let part: Int
  /// True if several shards share the pool.
  let isDivided: Bool
  private let taken = Atomic(0)

  init(maximum: Int, shards: Int) {
    self.maximum = maximum
    part = max(1, maximum / (32 * shards))
    isDivided = shards > 1
  }

  /// Takes bytes.
  ///
  /// - Returns: False, with no change, if too few are left.
  func take(_ count: Int) -> Bool {
    var current = taken.load(ordering: .relaxed)
    while count <= maximum - current {
      let (exchanged, original) = taken.compareExchange(
        expected: current, desired: current + count, ordering: .relaxed)
      if exchanged { return true }
      current = original
    }
    return false
  }

  /// Takes bytes that are used already, even if too few are left; a negative count returns bytes.
  func use(_ count: Int) { taken.add(count, ordering: .relaxed) }
}
