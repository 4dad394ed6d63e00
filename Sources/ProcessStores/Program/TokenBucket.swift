// SPDX-License-Identifier: Apache-2.0

/// A token bucket, on the clock of the machine.
struct TokenBucket {
  private let capacity: Double
  private let perSecond: Double
  private var tokens: Double
  private var last = ContinuousClock.now
  private var refused = 0

  init(capacity: Double, perSecond: Double) {
    (self.capacity, self.perSecond, tokens) = (capacity, perSecond, capacity)
  }

  /// Takes tokens; returns false if there are not enough.
  mutating func takes(_ count: Int = 1, at now: ContinuousClock.Instant) -> Bool {
    tokens = min(capacity, tokens + (now - last) / .seconds(1) * perSecond)
    last = now
    guard tokens >= Double(count) else {
      refused += 1
      return false
    }
    tokens -= Double(count)
    return true
  }

  /// Returns the number of refused tokens since the last call.
  mutating func takeRefused() -> Int {
    defer { refused = 0 }
    return refused
  }
}
