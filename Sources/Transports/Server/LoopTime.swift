// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// The event loop time that a connection has used beyond its share.
///
/// The share is one hundredth of the elapsed time. A connection may exceed it by `burst`.
struct LoopTime {
  private var excess = Duration.zero
  private var last: ContinuousClock.Instant
  /// The duration of the last turn.
  private(set) var lastTurn = Duration.zero

  private static let share = 100
  private static let burst = Duration.milliseconds(4)

  init(since now: ContinuousClock.Instant) { last = now }

  var isExceeded: Bool { excess > Self.burst }

  /// Adds a turn. At most half of `burst` counts, since the system may have run another thread
  /// meanwhile.
  mutating func add(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
    excess = max(.zero, excess - (start - last) / Self.share) + min(end - start, Self.burst / 2)
    last = end
    lastTurn = end - start
  }
}

/// The loop time of all connections of one identity.
final class IdentityTime {
  let identity: Identity
  var time: LoopTime

  init(of identity: Identity, since now: ContinuousClock.Instant) {
    self.identity = identity
    time = LoopTime(since: now)
  }
}
