// SPDX-License-Identifier: Apache-2.0

import Sessions

/// The thread of a journal, whose jobs run when the test says so.
final class HandThreads: Sendable {
  private let jobs = Lock<[@Sendable () -> Void]>([])

  var threads: JournalThreads {
    JournalThreads(
      commit: { [jobs] job in jobs.withLock { $0.append(job) } }, notify: { $0() })
  }

  /// How many jobs wait.
  var count: Int { jobs.withLock { $0.count } }

  /// Runs the jobs that wait, and so everything that waits for the journal.
  func run() {
    let ready = jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    for job in ready { job() }
  }
}
