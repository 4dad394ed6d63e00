// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// An event loop that turns when it is told to, on the fuzzer's own thread.
final class WorkLoop: Sendable {
  private let waiting = Lock([@Sendable () -> Void]())

  func execute(_ job: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(job) } }

  /// Runs what waits, and what that sets off.
  ///
  /// - Parameter limit: The most pieces. A frontend may ask a server under test to move the clock by
  ///   a thousand years, day by day; that is no finding.
  /// - Returns: Whether all of it was run.
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
