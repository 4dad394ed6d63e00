// SPDX-License-Identifier: Apache-2.0

/// The environment of a store: its clock, the executor of its work, and the faults that tests
/// inject.
public struct StoreEnvironment: Sendable {
  /// The clock that effects wait on.
  public var clock: any StoreClock
  /// The executor of work; nil for the default executor.
  public var executor: (any TaskExecutor)?
  /// The faults that operations meet; nil if none can be injected.
  public var faults: Faults?
  /// The counts of effects; nil if they are not counted.
  public var effects: EffectCounts?
  /// Called when an exchange begins, except a feed; returns a closure that is called at its end. Nil
  /// if the host does not wait for exchanges.
  public var beginExchange: (@Sendable () -> @Sendable () -> Void)?
  /// The queue of replies that the stores of the host share; nil if each store creates its own queue.
  public var replies: ReplyQueue?

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
