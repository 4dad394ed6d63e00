// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// The environments of stores.
extension Shard {
  /// Returns the environment of the stores of a new session.
  func sessionEnvironment() -> StoreEnvironment {
    guard let testing else { return environment }
    return StoreEnvironment(
      clock: testing.sessionClock(), executor: testing.tracker.workExecutor,
      effects: metrics.effects,
      beginExchange: testing.settings.waitsForExchanges ? outside?.begin : nil,
      replies: environment.replies)
  }

  /// Returns the environment of a new store of a session.
  ///
  /// - Parameters:
  ///   - session: The environment of the session.
  ///   - faults: The injected faults of the store, in a shard under test.
  func environment(in session: StoreEnvironment, _ faults: Faults?) -> StoreEnvironment {
    if faults == nil, restoring == nil { return session }
    return StoreEnvironment(
      clock: session.clock, executor: session.executor ?? restoring, faults: faults,
      effects: session.effects, beginExchange: session.beginExchange, replies: session.replies)
  }
}
