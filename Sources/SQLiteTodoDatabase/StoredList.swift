// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB
internal import SQLiteFiles
internal import StoredTodoLists

/// A list in the database, within one transaction.
struct StoredList {
  let db: GRDB.Database
  let id: Int64
  /// The number of its changes.
  let version: ListVersion
  /// The size when the list was found; zero for a new list.
  let size: TodoSize

  /// Finds the list with a name; nil if it does not exist.
  init?(named name: String, in db: GRDB.Database) throws {
    guard let row = try db.row(.findList, [name.blob]) else { return nil }
    let version: ListVersion = row[1]
    // So many changes were never made; the next one must not overflow.
    guard (0...1 << 60).contains(version) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    self.init(
      db: db, id: row[0], version: version, size: TodoSize(todos: row[2], bytes: row[3]))
  }

  private init(db: GRDB.Database, id: Int64, version: ListVersion, size: TodoSize) {
    self.db = db
    self.id = id
    self.version = version
    self.size = size
  }

  /// Creates a list.
  static func make(named name: String, in db: GRDB.Database) throws -> StoredList {
    try db.run(.makeList, [name.blob])
    return StoredList(db: db, id: db.lastInsertedRowID, version: 0, size: TodoSize())
  }

  /// Returns the todos in order.
  func todos() throws -> TodoList {
    var todos: [Todo] = []
    let rows = try db.rows(.todos, [id])
    while let row = try rows.next() {
      todos.append(
        Todo(id: try row.text(0) ?? "", title: try row.text(1) ?? "", completed: row[2]))
    }
    return TodoList(KeyedList(todos), size: size)
  }

  /// Returns the todos in order: earlier content with the changes since then, or else all todos.
  func todos(after read: ReadList?) throws -> TodoList {
    guard let read, read.version <= version, let changes = try changes(since: read.version) else {
      return try todos()
    }
    var list = read.list
    for (_, change) in changes { list.apply(change) }
    return list
  }
}

// MARK: - The log of changes

extension StoredList {
  /// Returns the changes after a version, without a gap; nil if the log does not have all of them.
  func changes(since version: ListVersion) throws -> [(ListVersion, TodoChange)]? {
    var changes: [(ListVersion, TodoChange)] = []
    var next = version + 1
    let rows = try db.rows(.logged, [id, version])
    while let row = try rows.next() {
      // An operation that a newer program wrote is treated as a gap.
      guard row[0] == next, let change = try LoggedChange(row).change else { return nil }
      changes.append((next, change))
      next += 1
    }
    return next == self.version + 1 ? changes : nil
  }

  /// Adds a change to the log as the next version. Occasionally removes old changes.
  ///
  /// - Parameter length: The minimum number of changes that are kept; the maximum is a quarter
  ///   more.
  /// - Returns: The version that the change leads to.
  func log(_ change: TodoChange, keeping length: Int) throws -> ListVersion {
    let version = version + 1
    try db.run(.setVersion, [id, version])
    let entry = LoggedChange(change)
    try db.run(
      .log,
      [id, version, entry.operation, entry.todo.blob, entry.title?.blob, entry.other?.blob])
    if version.isMultiple(of: Int64(max(1, length / 4))) {
      try db.run(.trim, [id, version - Int64(length)])
    }
    return version
  }
}

extension LoggedChange {
  /// Reads a row of the log.
  fileprivate init(_ row: Row) throws {
    self.init(row[1], try row.text(2) ?? "", try row.text(3), try row.text(4))
  }
}
