// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB
internal import SQLiteFiles

/// Detects changes that other processes make to the database, and notifies the listeners.
struct ForeignChanges {
  let file: SharedDatabase
  let listeners: ListListeners
  private var seen: Int?

  init(file: SharedDatabase, listeners: ListListeners) {
    self.file = file
    self.listeners = listeners
  }

  /// Checks once for changes; inexpensive if there are none.
  mutating func check() async throws(StorageError) {
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
    let listeners = listeners
    try await file.use { database in
      try await database.read { db in
        for list in listeners.lists {
          guard let version = try StoredList(named: list.string, in: db)?.version else { continue }
          listeners.notify(list, ListNotification(version: version))
        }
      }
    }
    // Set last, so that the next call repeats a failed check.
    seen = now
  }
}
