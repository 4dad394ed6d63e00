// SPDX-License-Identifier: Apache-2.0

import Sessions
import TestSupport

extension Shard {
  /// A shard on a loop of its own.
  static func make(
    _ kinds: [StoreKind], limits: SessionLimits = .init(),
    clock: any StoreClock = SystemClock()
  ) -> Shard {
    Shard(executor: QueueExecutor(), kinds: kinds, limits: limits, clock: clock)
  }

  /// Runs a test on the shard's loop.
  func run<Result: Sendable>(
    _ body: @Sendable (isolated Shard) async throws -> Result
  ) async rethrows -> Result {
    // What waits for a turn's end is held until then.
    defer { turn {} }
    return try await body(self)
  }
}
