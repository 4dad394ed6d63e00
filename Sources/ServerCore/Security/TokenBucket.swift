// SPDX-License-Identifier: Apache-2.0

internal import StatewireProtocol
internal import Wire

/// How much of something may happen in a second.
///
/// What is not used is saved up for one second, so that much may come at once after a pause.
///
/// A class, so that a peer without one, as nearly all are, has nothing but the place of a reference.
public final class TokenBucket {
  private let perSecond: Double
  private var left: Double
  private var lastChange: ContinuousClock.Instant

  /// - Precondition: `perSecond` is positive.
  public init(perSecond: Int, at now: ContinuousClock.Instant) {
    precondition(perSecond > 0, "an allowance of nothing")
    self.perSecond = Double(perSecond)
    left = self.perSecond
    lastChange = now
  }

  /// Takes one, if one is left.
  /// - Returns: Whether it was; nothing is taken otherwise.
  public func takeOne(at now: ContinuousClock.Instant) -> Bool {
    refill(now)
    guard left >= 1 else { return false }
    left -= 1
    return true
  }

  /// Takes what has been used already, be it more than is left.
  /// - Returns: How long to wait until nothing is owed any more; nil if nothing is.
  public func use(_ amount: Int, at now: ContinuousClock.Instant) -> Duration? {
    refill(now)
    left -= Double(amount)
    return left < 0 ? .seconds(-left / perSecond) : nil
  }

  private func refill(_ now: ContinuousClock.Instant) {
    let passed = lastChange.duration(to: now) / .seconds(1)
    // A clock that seems to go back would take away what was left.
    guard passed > 0 else { return }
    left = min(perSecond, left + passed * perSecond)
    lastChange = now
  }
}

extension Connection {
  /// Counts an input, where inputs are counted.
  func spendInput() throws(RPCError) {
    guard let perSecond = settings.limits.inputsPerSecond else { return }
    guard inputs?.takeOne(at: settings.now()) == false else { return }
    throw RPCError(limit: .inputsPerSecond, "at most \(perSecond) inputs are taken in a second")
  }
}
