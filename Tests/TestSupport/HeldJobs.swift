// SPDX-License-Identifier: Apache-2.0

/// A substitute for a thread, such as that of a journal. Its jobs run when the test calls `run`.
public final class HeldJobs: Sendable {
  private let jobs = Record<@Sendable () -> Void>()

  public init() {}

  /// The number of waiting jobs.
  public var count: Int { jobs.count }

  @Sendable
  public func add(_ job: @escaping @Sendable () -> Void) { jobs.add(job) }

  /// Runs the waiting jobs.
  public func run() { for job in jobs.removeAll() { job() } }

  /// Drops the waiting jobs, which often refer to the owner of this object.
  public func drop() { _ = jobs.removeAll() }

  /// Returns when at least `count` jobs wait.
  ///
  /// - Throws: `CancellationError` when the time limit of the test is over.
  public func reaches(_ count: Int) async throws { try await jobs.reaches(count) }
}
