// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// An event loop that runs jobs only when a test demands it, on the test's thread.
///
/// The test is the loop: between two turns it may use everything on the shard. Jobs from work on
/// other threads wait here.
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

  /// Adds a job.
  func execute(_ job: @escaping @Sendable () -> Void) { wake { $0.jobs.append(job) } }

  /// Checks nothing, because the test owns the loop.
  func checkIsolated() {}

  /// Runs the oldest job, after waiting for one if there is none.
  ///
  /// - Throws: `CancellationError` if the test's time limit has passed.
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

  /// Runs `count` jobs, and waits for each of them.
  func turns(_ count: Int) async throws { for _ in 1...count { try await turn() } }

  /// Runs all waiting jobs.
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
