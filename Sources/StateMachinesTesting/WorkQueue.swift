// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The executor of the effects of a test: it runs jobs one at a time, in order, and only when the
/// test store asks for it.
///
/// Therefore the store knows when all work waits: when this queue is empty.
final class WorkQueue: TaskExecutor {
  private let jobs = Lock<[UnownedJob]>([])

  var isEmpty: Bool { jobs.withLock { $0.isEmpty } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs the jobs that are queued now, each up to its next suspension.
  ///
  /// - Returns: The number of jobs.
  func run() -> Int {
    let due = jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    for job in due { job.runSynchronously(on: asUnownedTaskExecutor()) }
    return due.count
  }
}
