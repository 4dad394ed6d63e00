// SPDX-License-Identifier: Apache-2.0

/// The environment of a store: its clock, the executor of its work, and the faults that tests
/// inject.
///
/// A class, so that the stores of one host share it.
public final class StoreEnvironment: Sendable {
  /// The clock that effects wait on.
  public let clock: any StoreClock
  /// The executor of work; nil for the default executor.
  public let executor: (any TaskExecutor)?
  /// The faults that operations meet; nil if none can be injected.
  public let faults: Faults?
  /// The counts of effects; nil if they are not counted.
  public let effects: EffectCounts?
  /// Called when an exchange begins, except a feed; returns a closure that is called at its end. Nil
  /// if the host does not wait for exchanges.
  public let beginExchange: (@Sendable () -> @Sendable () -> Void)?
  /// The queue of replies that the stores of the host share; nil if each store creates its own queue.
  public let replies: ReplyQueue?

  /// Creates an environment. The default has the clock of the computer and no faults.
  public init(
    clock: any StoreClock = SystemClock(), executor: (any TaskExecutor)? = nil,
    faults: Faults? = nil, effects: EffectCounts? = nil,
    beginExchange: (@Sendable () -> @Sendable () -> Void)? = nil, replies: ReplyQueue? = nil
  ) {
    self.clock = clock
    self.executor = executor
    self.faults = faults
    self.effects = effects
    self.beginExchange = beginExchange
    self.replies = replies
  }
}
