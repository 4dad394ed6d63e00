// SPDX-License-Identifier: Apache-2.0

/// How long to wait before trying again: longer each time, and never the same for two clients, which
/// would all come back at once.
public struct Backoff: Sendable {
  /// The wait before the second try, on average; the first one is about at once.
  public var base: Duration
  /// The longest wait.
  public var longest: Duration

  public init(base: Duration = .milliseconds(200), longest: Duration = .seconds(10)) {
    self.base = base
    self.longest = longest
  }

  /// How long to wait after so many failures in a row.
  func delay(after failures: Int) -> Duration {
    // The exponent is bounded: a server may stay away for a day.
    let whole = min(longest, base * (1 << min(failures, 20)))
    return whole * (failures == 0 ? .random(in: 0...0.5) : .random(in: 0.5...1))
  }
}
