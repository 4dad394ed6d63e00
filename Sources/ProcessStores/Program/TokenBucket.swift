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

  /// Takes a token; returns false if there is none.
  mutating func takes(at now: ContinuousClock.Instant) -> Bool {
    tokens = min(capacity, tokens + (now - last) / .seconds(1) * perSecond)
    last = now
    guard tokens >= 1 else {
      refused += 1
      return false
    }
    tokens -= 1
    return true
  }

  /// Returns the number of refused tokens since the last call.
  mutating func takeRefused() -> Int {
    defer { refused = 0 }
    return refused
  }
}
