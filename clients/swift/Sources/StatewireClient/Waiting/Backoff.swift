// SPDX-License-Identifier: Apache-2.0

/// Exponential delays with jitter before the client connects again, so that clients do not
/// reconnect at the same time.
public struct Backoff: Sendable {
  /// Delay n, counted from 0, is at most `base` times 2 to the power of n, and at least half of
  /// that. Delay 0 is between 0 and half of `base`.
  public var base: Duration
  /// The upper bound of all delays.
  public var maximum: Duration

  /// Creates delays that begin at `base` and double up to `maximum`.
  public init(base: Duration = .milliseconds(200), maximum: Duration = .seconds(10)) {
    self.base = base
    self.maximum = maximum
  }

  /// Computes the delay after a number of consecutive failures.
  func delay(after failures: Int) -> Duration {
    // The exponent is bounded: it would overflow if a server were away for a day.
    let whole = min(maximum, base * (1 << min(failures, 20)))
    return whole * (failures == 0 ? .random(in: 0...0.5) : .random(in: 0.5...1))
  }
}
