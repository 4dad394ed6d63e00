// SPDX-License-Identifier: Apache-2.0

/// Runs `body`, for at most `limit` of real time; nil for no limit.
///
/// The time is real, since it bounds a real server.
///
/// - Throws: The error of `body`, or `RemoteFailure.timeout` once `body` has been cancelled and has
///   ended.
func within<Result: Sendable>(
  _ limit: Duration?, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  guard let limit else { return try await body() }
  return try await withThrowingTaskGroup(of: Result.self) { group in
    defer { group.cancelAll() }
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: limit)
      throw RemoteFailure.timeout
    }
    guard let result = try await group.next() else { throw CancellationError() }
    return result
  }
}
