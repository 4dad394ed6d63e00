// SPDX-License-Identifier: Apache-2.0

/// How much time of its event loop a connection has taken beyond what any may take at any time.
///
/// That is a hundredth of the time, and `burst` at once.
struct LoopTime {
  private var excess = Duration.zero
  private var last: ContinuousClock.Instant
  /// How long the last turn has taken.
  private(set) var lastTurn = Duration.zero

  private static let share = 100
  private static let burst = Duration.milliseconds(4)

  init(since now: ContinuousClock.Instant) { last = now }

  var isExceeded: Bool { excess > Self.burst }

  /// Counts a turn.
  mutating func add(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
    excess = max(.zero, excess - (start - last) / Self.share) + (end - start)
    last = end
    lastTurn = end - start
  }
}
