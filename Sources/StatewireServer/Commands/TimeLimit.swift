// SPDX-License-Identifier: Apache-2.0

/// Calls `body`, and cancels it when a time is over.
///
/// - Parameters:
///   - limit: The longest time for `body`.
///   - error: The error if it takes longer.
/// - Throws: The error of `body`, or `error` after the time limit.
func withTimeLimit<Outcome: Sendable>(
  _ limit: Duration, _ error: StartupError,
  _ body: @escaping @Sendable () async throws -> Outcome
) async throws -> Outcome {
  try await withThrowingTaskGroup(of: Outcome.self) { group in
    // The work and the wait; the first one that ends cancels the other.
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: limit)
      throw error
    }
    defer { group.cancelAll() }
    guard let outcome = try await group.next() else { throw error }
    return outcome
  }
}
