// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// An event loop that turns only when a test says so, on the test's own thread.
///
/// The test is the loop: between two turns it may touch all that lives on the shard. What work
/// running elsewhere has to say waits here until it is asked for.
final class TestLoop: SerialExecutor {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Lock(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Does something in its turn.
  func execute(_ job: @escaping @Sendable () -> Void) { wake { $0.jobs.append(job) } }

  /// Nothing to check: whoever holds the loop is the test.
  func checkIsolated() {}

  /// Runs the job that has waited longest, after waiting for one.
  /// - Throws: `CancellationError` when the test's time is up.
  func turn() async throws {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if !state.jobs.isEmpty || Task.isCancelled { return true }
          state.waiter = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      wake { _ in }
    }
    try Task.checkCancellation()
    runOne()
  }

  /// Turns a number of times: once for each thing that running work has to say.
  func turns(_ count: Int) async throws { for _ in 1...count { try await turn() } }

  /// Runs what waits.
  func runAll() { while runOne() {} }

  @discardableResult
  private func runOne() -> Bool {
    guard let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) else {
      return false
    }
    job()
    return true
  }

  private func wake(_ change: (inout State) -> Void) {
    let waiter = state.withLock { state in
      change(&state)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }
}
