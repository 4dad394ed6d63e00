// SPDX-License-Identifier: Apache-2.0

// A new session at the limit of the sessions of all shards.

extension Shard {
  /// Returns true if a new session has to wait for `whenPlaceIsFree`: the limit of sessions is
  /// reached, and another shard may have a session without a client that can sleep or be ended.
  public func mustWaitForPlace(of identity: String?) -> Bool {
    guard place.count > 1 else { return false }
    expireSome()
    return group.census.limit(of: identity, limits) == .sessions
      && !directory.hasIdle(for: identity)
  }

  /// Calls `body` in a turn after another shard has freed a place, or if none
  /// can.
  public func whenPlaceIsFree(
    for identity: String?, _ body: @escaping (isolated Shard) -> Void
  ) {
    // because it is called on this shard only.
    nonisolated(unsafe) let body = body
    let others = (1..<place.count).compactMap { group.member((place.index + $0) % place.count) }
    guard let own = group.member(place.index) else { return body(self) }
    Self.free(for: identity, others[...]) { own.turn { body($0) } }
  }

  /// Asks the first of some shards to free a place, then the next ones.
  private static func free(
    for identity: String?, _ others: ArraySlice<ShardGroup.Member>,
    then done: @escaping @Sendable () -> Void
  ) {
    guard let first = others.first else { return done() }
    first.turn { shard in
      shard.expireSome()
      guard shard.group.census.limit(of: identity, shard.limits) == .sessions,
        !shard.freePlace(for: identity)
      else { return done() }
      free(for: identity, others.dropFirst(), then: done)
    }
  }
}
