// SPDX-License-Identifier: Apache-2.0

/// What a store stands in beside its host: the time, where work runs, and what tests do to it.
public struct StoreEnvironment: Sendable {
  /// The time that effects wait on.
  public var clock: any StoreClock
  /// Where work runs; nil is where all else does.
  public var executor: (any TaskExecutor)?
  /// The faults that operations meet; nil where none can be injected.
  public var faults: Faults?

  public init(
    clock: any StoreClock = SystemClock(), executor: (any TaskExecutor)? = nil,
    faults: Faults? = nil
  ) {
    self.clock = clock
    self.executor = executor
    self.faults = faults
  }
}
