// SPDX-License-Identifier: Apache-2.0

import Glibc
import StatewireServer

/// Runs `body`, and cancels it when a signal arrives: a program that it has started must not outlive
/// this one.
///
/// - Parameters:
///   - body: The work.
///   - interrupted: Returns the result after a signal, whose number it gets.
func untilSignal<Value: Sendable>(
  _ body: @escaping @Sendable () async throws -> Value,
  interrupted: @escaping @Sendable (CInt) throws -> Value
) async throws -> Value {
  let (signals, signal) = AsyncStream.makeStream(of: CInt.self)
  let numbers = [SIGINT, SIGTERM, SIGHUP].filter { !ProcessSignals.isIgnored($0) }
  let watch = try ProcessSignals(numbers) { signal.yield($0) }
  defer { watch.end() }
  return try await withThrowingTaskGroup(of: Value.self) { group in
    // The work and the wait for a signal; the first one that ends cancels the other.
    group.addTask { try await body() }
    group.addTask {
      for await number in signals { return try interrupted(number) }
      throw CancellationError()
    }
    defer { group.cancelAll() }
    for try await value in group { return value }
    throw CancellationError()
  }
}
