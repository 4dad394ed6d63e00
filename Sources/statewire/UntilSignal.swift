// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import StatewireServer

/// Runs `body`, and cancels it when a signal arrives: a program that it has started must not outlive
/// this one.
///
/// - Parameters:
///   - isSuccess: True if a signal is the normal end; the result is then 0.
///   - body: The work, whose result is an exit code or another value.
/// - Throws: `ExitCode` with 128 and the number of the signal, if it is not the normal end.
func untilSignal(
  isSuccess: Bool, _ body: @escaping @Sendable () async throws -> Int32
) async throws -> Int32 {
  try await untilSignal(body) { number in
    guard isSuccess else { throw ExitCode(128 + number) }
    return 0
  }
}

/// Runs `body`, and cancels it when a signal arrives.
///
/// - Parameters:
///   - body: The work.
///   - interrupted: Returns the result after a signal, whose number it gets.
func untilSignal<Result: Sendable>(
  _ body: @escaping @Sendable () async throws -> Result,
  interrupted: @escaping @Sendable (CInt) throws -> Result
) async throws -> Result {
  let (signals, signal) = AsyncStream.makeStream(of: CInt.self)
  let numbers = [SIGINT, SIGTERM, SIGHUP].filter { !ProcessSignals.isIgnored($0) }
  let watch = try ProcessSignals(numbers) { signal.yield($0) }
  defer { watch.end() }
  return try await withThrowingTaskGroup(of: Result.self) { group in
    group.addTask { try await body() }
    group.addTask {
      for await number in signals { return try interrupted(number) }
      throw CancellationError()
    }
    defer { group.cancelAll() }
    for try await result in group { return result }
    throw CancellationError()
  }
}
