// SPDX-License-Identifier: Apache-2.0

/// Does some work, and cancels it where it takes too long.
///
/// - Parameters:
///   - limit: How long it may take; nil: for ever.
///   - what: What it is, for the error.
///   - work: The work; it ends soon after it was cancelled.
/// - Throws: `StatewireError` with the code `timedOut`, or what the work throws.
func within<Value: Sendable>(
  _ limit: Duration?, _ what: @autoclosure () -> String,
  _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  guard let limit else { return try await work() }
  return try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await work() }
    group.addTask {
      try await Task.sleep(for: limit)
      return nil
    }
    defer { group.cancelAll() }
    guard let first = try await group.next(), let value = first else {
      throw StatewireError(.timedOut, "\(what()): no answer in \(limit)")
    }
    return value
  }
}
