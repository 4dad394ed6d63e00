// SPDX-License-Identifier: Apache-2.0

import Sessions
import TestSupport

extension Shard {
  /// Returns a shard that runs on its own queue.
  static func make(
    _ kinds: [StoreKind], limits: SessionLimits = .init(),
    clock: any StoreClock = SystemClock()
  ) -> Shard {
    Shard(executor: QueueExecutor(), kinds: kinds, limits: limits, clock: clock)
  }

  /// Runs a test in the shard's isolation.
  func run<Result: Sendable>(
    _ body: @Sendable (isolated Shard) async throws -> Result
  ) async rethrows -> Result {
    // Deliveries that wait for the end of a turn would otherwise not be performed.
    defer { turn {} }
    return try await body(self)
  }
}
