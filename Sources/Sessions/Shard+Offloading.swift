// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// Work on other threads, with whose outcome the shard continues.
extension Shard {
  /// Offloads work, and continues with its outcome in a separate turn.
  ///
  /// - Parameters:
  ///   - work: The work; it must not use anything that belongs to the shard.
  ///   - body: Called on the shard with the outcome.
  public nonisolated func offload<Outcome: Sendable>(
    _ work: @escaping @Sendable () async -> Outcome,
    then body: @escaping @Sendable (Outcome, isolated Shard) -> Void
  ) {
    // Under test the server is not idle meanwhile.
    let ended = outside?.begin()
    Offload.do(work) {
      await self.resume(with: $0, body)
      ended?()
    }
  }

  /// Calls `body` after a time, in a separate turn.
  public nonisolated func wait(
    _ time: Duration, then body: @escaping @Sendable (isolated Shard) -> Void
  ) {
    Offload.wait(time) { await self.resume(with: ()) { _, shard in body(shard) } }
  }

  private func resume<Outcome: Sendable>(
    with outcome: Outcome, _ body: @Sendable (Outcome, isolated Shard) -> Void
  ) {
    turn { body(outcome, self) }
  }
}
