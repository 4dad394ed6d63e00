// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB
internal import SQLiteFiles

/// Tells the listeners when another process has changed the database.
struct ForeignChanges {
  let file: SharedDatabase
  let listeners: ListListeners
  private var seen: Int?

  init(file: SharedDatabase, listeners: ListListeners) {
    self.file = file
    self.listeners = listeners
  }

  /// Looks once; cheap when nothing has happened.
  mutating func look() async throws(StorageError) {
    let before = seen
    let now = try await file.use { database in
      // Without this nobody would know before the next operation.
      try database.files.check()
      // This number changes with commits of other connections, and this one makes all of ours.
      // https://www.sqlite.org/pragma.html#pragma_data_version
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
          listeners.tell(list, ListNews(version: version))
        }
      }
    }
    // Last, so that a look that fails is made good by the next one.
    seen = now
  }
}
