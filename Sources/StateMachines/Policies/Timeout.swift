// SPDX-License-Identifier: Apache-2.0

extension StoreClock {
  /// Carries something out, for some time at most.
  ///
  /// When the time is over, the body is cancelled and what it still gives is dropped. It is waited
  /// for: one that does not hear that it was cancelled holds up the answer, unless it is run by
  /// `AbandonedTasks`.
  ///
  /// - Parameters:
  ///   - limit: How long it may take on this clock.
  ///   - body: What is carried out, in a task of its own.
  /// - Returns: What it gave; nil if it took too long, or the task was cancelled first.
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
