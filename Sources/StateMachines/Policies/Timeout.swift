// SPDX-License-Identifier: Apache-2.0

extension StoreClock {
  /// Calls `body` with a time limit.
  ///
  /// When the time is over, `body` is cancelled and its outcome is dropped. The function waits
  /// until `body` has returned: a body that ignores its cancellation delays the return, unless it
  /// runs in `AbandonedTasks.abandonable`.
  ///
  /// On a virtual clock, an outcome at the instant at which the time is over is not too late: all other
  /// sleeps with this deadline end before.
  ///
  /// - Parameters:
  ///   - limit: The time limit on this clock; with 0, `body` is not called.
  ///   - body: The work; it runs in a separate task.
  /// - Returns: The outcome of `body`; nil if it took too long or the task was cancelled first.
  public func timeout<Outcome: Sendable>(
    after limit: Duration, _ body: @escaping @Sendable () async -> Outcome
  ) async -> Outcome? {
    guard limit > .zero else { return nil }
    return await withTaskGroup(of: Outcome?.self) { group in
      group.addTask { await body() }
      group.addTask {
        // A sleep with a tolerance ends after the others with its deadline.
        try? await sleep(for: limit, tolerance: .nanoseconds(1))
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
  }
}
