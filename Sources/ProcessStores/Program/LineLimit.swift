// SPDX-License-Identifier: Apache-2.0

/// A token bucket for lines of the log: 100 lines, and 10 more each second.
struct LineLimit {
  private static let capacity = 100.0
  private static let perSecond = 10.0

  private var tokens = Self.capacity
  private var last = ContinuousClock.now
  private var dropped = 0

  /// Returns true if a line may be written now.
  mutating func admits(at now: ContinuousClock.Instant) -> Bool {
    tokens = min(Self.capacity, tokens + (now - last) / .seconds(1) * Self.perSecond)
    last = now
    guard tokens >= 1 else {
      dropped += 1
      return false
    }
    tokens -= 1
    return true
  }

  /// Returns the number of lines that were left out since the last call.
  mutating func takeDropped() -> Int {
    defer { dropped = 0 }
    return dropped
  }
}
