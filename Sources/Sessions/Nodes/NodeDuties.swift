// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The work of a node for sessions that no node owns: it continues those of dead nodes that have
/// work, and ends those whose time is over.
public final class NodeDuties: Sendable {
  private let ownership: any SessionOwnership
  private let group: ShardGroup
  private let state = Lock(State())

  private struct State {
    var ticks = 0
    var isClaiming = false
    var isEnding = false
    var isOver = false
  }

  /// Creates the duties of a node.
  public init(_ ownership: any SessionOwnership, of group: ShardGroup) {
    (self.ownership, self.group) = (ownership, group)
  }

  /// Does what is due; to be called about once a second, on any thread.
  public func tick() {
    let (claims, ends) = state.withLock { state -> (Bool, Bool) in
      guard !state.isOver else { return (false, false) }
      defer { state.ticks += 1 }
      let claims = !state.isClaiming && state.ticks.isMultiple(of: 2)
      let ends = !state.isEnding && state.ticks % 10 == 9
      if claims { state.isClaiming = true }
      if ends { state.isEnding = true }
      return (claims, ends)
    }
    guard ownership.isHeld else {
      return state.withLock { state in
        if claims { state.isClaiming = false }
        if ends { state.isEnding = false }
      }
    }
    if claims { claim() }
    if ends { end() }
  }

  /// Ends the duties, because the node leaves.
  public func stop() { state.withLock { $0.isOver = true } }

  private func claim() {
    ownership.claimContinuing(limit: Self.maximumSessions) { [self] result in
      state.withLock { $0.isClaiming = false }
      guard case .success(let handles) = result else { return }
      for handle in handles {
        group.member(handle.shard(of: group.count))?.turn { $0.loadClaimed(handle) }
      }
    }
  }

  private func end() {
    ownership.endExpired(at: SystemClock().sinceEpoch, limit: Self.maximumSessions) {
      [self] result in
      if case .success(Self.maximumSessions) = result { return end() }
      state.withLock { $0.isEnding = false }
    }
  }

  /// A node claims so many at a time, so that several nodes share the sessions of a dead one.
  private static var maximumSessions: Int { 100 }
}
