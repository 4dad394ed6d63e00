// SPDX-License-Identifier: Apache-2.0

public import GRDB

/// Detects commits of other processes to a database file, by polling.
public struct ExternalCommits {
  private let file: SharedDatabase
  private var seen: Int?

  /// Creates a detector for a file.
  public init(to file: SharedDatabase) { self.file = file }

  /// The interval between two polls of `watch`.
  public static var pollInterval: Duration { .milliseconds(250) }

  /// Checks once for commits; inexpensive if there are none.
  ///
  /// - Parameter body: Called if there may have been commits since the last successful call.
  public mutating func check(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Void
  ) async throws(StorageError) {
    let before = seen
    let now = try await file.use { database in
      // Without this check a missing file would be noticed only by the next operation.
      try database.files.check()
      // The number changes with commits of other connections; this process commits only through the
      // writer's connection. https://www.sqlite.org/pragma.html#pragma_data_version
      return try await database.onWriter { db in
        try Int.fetchOne(db, sql: "PRAGMA data_version")
      }
    }
    guard now != before else { return }
    try await file.use { database in try await database.read(body) }
    // Set last, so that the next call repeats a failed check.
    seen = now
  }

  /// Checks for commits in intervals while there are listeners, until the task is cancelled or
  /// `additions` ends.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - clock: The clock that measures the intervals.
  ///   - additions: Has an element after a listener was added.
  ///   - hasListeners: Returns true while there are listeners.
  ///   - body: Called if there may have been commits since the last successful check.
  public static func watch(
    _ file: SharedDatabase, clock: any Clock<Duration>, additions: AsyncStream<Void>,
    while hasListeners: () -> Bool, notify body: @escaping @Sendable (GRDB.Database) throws -> Void
  ) async {
    var commits = ExternalCommits(to: file)
    var hadFailed = false
    for await _ in additions {
      while hasListeners() {
        do {
          try await clock.sleep(for: pollInterval)
        } catch {
          return
        }
        do throws(StorageError) {
          try await commits.check(body)
          hadFailed = false
        } catch {
          // A lasting failure is reported once; the next poll may succeed.
          if !hadFailed, error.code != .closed { file.report(error) }
          hadFailed = true
        }
      }
    }
  }
}
