// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

extension Shard {
  /// Runs `body` with a value as one turn; on the loop of the shard only.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - start: The time at which the turn's timed work begins; nil for untimed work.
  ///   - body: The turn.
  nonisolated func turnOnLoop<Value>(
    with value: Value, from start: ContinuousClock.Instant? = nil,
    _ body: (Value, isolated Shard) -> Void
  ) {
    // because the shard's jobs run on this loop, which `assumeIsolated` checks: no value crosses
    // threads, but the compiler cannot know that.
    nonisolated(unsafe) let (value, body) = (value, body)
    assumeIsolated { shard in
      shard.turn {
        if let start { shard.turnOutcome.beginWork(at: start) }
        body(value, shard)
      }
    }
  }
}
