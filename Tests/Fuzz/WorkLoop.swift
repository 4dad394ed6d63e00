// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// An event loop that runs its jobs on the fuzzer's thread, when it is called.
final class WorkLoop: Sendable {
  private let waiting = Lock([@Sendable () -> Void]())

  func execute(_ job: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(job) } }

  /// Runs the waiting jobs, and the jobs that these add.
  ///
  /// - Parameter limit: The maximum number of jobs. A client may advance the clock of a server
  ///   under test by a thousand years, day by day, which is not a finding.
  /// - Returns: True if no job remains.
  func run(atMost limit: Int) -> Bool {
    var count = 0
    while true {
      let jobs = waiting.withLock { jobs in
        defer { jobs = [] }
        return jobs
      }
      if jobs.isEmpty { return true }
      for job in jobs { job() }
      count += jobs.count
      if count > limit { return false }
    }
  }
}
