// SPDX-License-Identifier: Apache-2.0

/// Runs work with a time limit.
///
/// - Parameters:
///   - limit: The maximum time; nil for no limit.
///   - what: The name of the work, for the error.
///   - work: The work. It is cancelled at the limit and must end soon afterwards.
/// - Throws: `StatewireError` with the code `timedOut`, or the error of the work.
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
      throw StatewireError(.timedOut, "\(what()): no response within \(limit)")
    }
    return value
  }
}
