// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

extension Shard {
  /// Runs `body` with a value as one turn; on the loop of the shard only.
  nonisolated func turnOnLoop<Value>(with value: Value, _ body: (Value, isolated Shard) -> Void) {
    // because the shard's jobs run on this loop, which `assumeIsolated` checks: no value crosses
    // threads, but the compiler cannot know that.
    nonisolated(unsafe) let (value, body) = (value, body)
    assumeIsolated { shard in shard.turn { body(value, shard) } }
  }
}
