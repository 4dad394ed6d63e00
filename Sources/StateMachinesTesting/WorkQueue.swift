// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Where the effects of a test run: one at a time, in order, and only when the test store says so.
///
/// So the store knows what no scheduler tells: that all work rests, which is when this is empty.
final class WorkQueue: TaskExecutor {
  private let jobs = Lock<[UnownedJob]>([])

  var isEmpty: Bool { jobs.withLock { $0.isEmpty } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs what is waiting, each up to where it next has to wait.
  /// - Returns: How many pieces that were.
  func run() -> Int {
    let due = jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    for job in due { job.runSynchronously(on: asUnownedTaskExecutor()) }
    return due.count
  }
}
