// SPDX-License-Identifier: Apache-2.0

extension StoreClock {
  /// Calls `body` with a time limit.
  ///
  /// When the time is over, `body` is cancelled and its outcome is dropped. The function waits
  /// until `body` has returned: a body that ignores its cancellation delays the return, unless it
  /// runs in `AbandonedTasks.abandonable`.
  ///
  /// - Parameters:
  ///   - limit: The time limit on this clock.
  ///   - body: The work; it runs in a separate task.
  /// - Returns: The outcome of `body`; nil if it took too long or the task was cancelled first.
  public func timeout<Outcome: Sendable>(
    after limit: Duration, _ body: @escaping @Sendable () async -> Outcome
  ) async -> Outcome? {
    await withTaskGroup(of: Outcome?.self) { group in
      group.addTask { await body() }
      group.addTask {
        try? await sleep(for: limit)
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
  }
}
