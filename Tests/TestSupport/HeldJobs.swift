// SPDX-License-Identifier: Apache-2.0

/// A substitute for a thread, such as that of a journal. Its jobs run when the test calls `run`.
public final class HeldJobs: Sendable {
  private let jobs = Record<@Sendable () -> Void>()

  public init() {}

  /// The number of waiting jobs.
  public var count: Int { jobs.count }

  /// Adds a job. The closure does not keep this object: jobs often refer to the owner of the closure, and none
  /// of them would be released.
  public var add: @Sendable (_ job: @escaping @Sendable () -> Void) -> Void {
    { [weak self] job in self?.jobs.add(job) }
  }

  /// Runs the waiting jobs.
  public func run() { for job in jobs.removeAll() { job() } }

  /// Returns when at least `count` jobs wait.
  ///
  /// - Throws: `CancellationError` when the time limit of the test is over.
  public func reaches(_ count: Int) async throws { try await jobs.reaches(count) }
}
