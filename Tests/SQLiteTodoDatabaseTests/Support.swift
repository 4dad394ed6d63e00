// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import GRDB
import SQLiteFiles
import StorageTestSupport
import TestSupport

@testable import SQLiteTodoDatabase
@testable import StoredTodoLists

extension TodoDatabase {
  /// Creates a database with the ids "1", "2" and so on, unless `ids` has other ones.
  convenience init(
    _ folder: String, clock: any Clock<Duration> = ContinuousClock(),
    busyTimeout: Duration = .seconds(5), logLength: Int = 1000,
    limits: TodoLimits = TodoLimits(), ids: CountedIDs = CountedIDs(),
    complaints: RecordedFailures = RecordedFailures()
  ) {
    self.init(
      in: SharedDatabase(
        folder, Self.schema, busyTimeout: busyTimeout, complaints: complaints),
      clock: clock, logLength: logLength, limits: limits, makeID: ids.make)
  }

  /// Ends the feeds and closes the file.
  func close() async {
    endFeeds()
    await file.close()
  }

  /// Adds a todo without a notification to feeds, as another process does.
  func addSilently(_ title: String, to list: String) async throws {
    let (logLength, makeID) = (logLength, makeID)
    try await file.write { db in
      _ = try TodoTransaction(db: db, list: list, logLength: logLength, makeID: makeID)
        .perform(.add(title: title))
    }
  }

  /// Returns the number of changes that a list has had; nil if there is no list.
  func version(of list: String) async throws -> ListVersion? {
    try await file.write { db in try StoredList(named: list, in: db)?.version }
  }

  /// Returns the number of changes in the change log of a list.
  func logLength(of list: String) async throws -> Int {
    try await file.write { db in
      guard let stored = try StoredList(named: list, in: db) else { return 0 }
      return try db.numbers(.logged, [stored.id, 0]).count
    }
  }
}
