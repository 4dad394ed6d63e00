// SPDX-License-Identifier: Apache-2.0

/// A token bucket: a rate limiter that refills at a constant rate.
///
/// The bucket holds at most the tokens of one second, so a pause allows a burst of that size.
///
/// It is a class, because most connections have none: without one, a connection stores only a
/// reference.
public final class TokenBucket {
  /// The tokens that are left.
  public struct State: Sendable {
    /// The number of tokens; negative while the bucket is in debt.
    public var left: Double
    /// The time at which `left` was computed.
    public var lastChange: ContinuousClock.Instant
  }

  private let perSecond: Double
  /// The tokens that are left.
  public var state: State

  /// Creates a full bucket.
  ///
  /// - Parameters:
  ///   - perSecond: Number of tokens that are added in a second, and that the bucket holds at most.
  ///   - now: The current time.
  /// - Precondition: `perSecond` is positive.
  public init(perSecond: Int, at now: ContinuousClock.Instant) {
    precondition(perSecond > 0, "the rate of a token bucket must be positive")
    self.perSecond = Double(perSecond)
    state = State(left: self.perSecond, lastChange: now)
  }

  /// Takes one token, if there is one.
  ///
  /// - Returns: True if a token was taken.
  public func takeOne(at now: ContinuousClock.Instant) -> Bool {
    refill(now)
    guard state.left >= 1 else { return false }
    state.left -= 1
    return true
  }

  /// Takes tokens for something that has already happened, even more than the bucket holds.
  ///
  /// - Returns: The time until the bucket is no longer in debt; nil if it is not.
  public func use(_ amount: Int, at now: ContinuousClock.Instant) -> Duration? {
    refill(now)
    state.left -= Double(amount)
    return state.left < 0 ? .seconds(-state.left / perSecond) : nil
  }

  private func refill(_ now: ContinuousClock.Instant) {
    let passed = state.lastChange.duration(to: now) / .seconds(1)
    // A clock that goes back must not remove tokens.
    guard passed > 0 else { return }
    state.left = min(perSecond, state.left + passed * perSecond)
    state.lastChange = now
  }
}
