// SPDX-License-Identifier: Apache-2.0

/// How much time of its event loop a connection has taken beyond what any may take at any time.
///
/// That is a hundredth of the time, and `burst` in a few turns.
struct LoopTime {
  private var excess = Duration.zero
  private var last: ContinuousClock.Instant
  /// How long the last turn has taken.
  private(set) var lastTurn = Duration.zero

  private static let share = 100
  private static let burst = Duration.milliseconds(4)

  init(since now: ContinuousClock.Instant) { last = now }

  var isExceeded: Bool { excess > Self.burst }

  /// Counts a turn; of a long one half of `burst`, since the system may have let another thread run meanwhile.
  mutating func add(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
    excess = max(.zero, excess - (start - last) / Self.share) + min(end - start, Self.burst / 2)
    last = end
    lastTurn = end - start
  }
}

/// The time of all connections of one identity.
final class IdentityTime {
  var time: LoopTime

  init(since now: ContinuousClock.Instant) { time = LoopTime(since: now) }
}
