// SPDX-License-Identifier: Apache-2.0

/// A thread whose jobs run when the test says so, such as that of a journal.
public final class HeldJobs: Sendable {
  private let jobs = Record<@Sendable () -> Void>()

  public init() {}

  /// How many jobs wait.
  public var count: Int { jobs.count }

  @Sendable
  public func add(_ job: @escaping @Sendable () -> Void) { jobs.add(job) }

  /// Runs the jobs that wait.
  public func run() { for job in jobs.removeAll() { job() } }

  /// Returns when so many jobs wait.
  /// - Throws: `CancellationError` when the test's time is up.
  public func reaches(_ count: Int) async throws { try await jobs.reaches(count) }
}
