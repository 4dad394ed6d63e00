// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB
internal import SQLiteFiles

/// A list in the database, as it is within one transaction.
struct StoredList {
  let db: GRDB.Database
  let id: Int64
  /// How many changes it has had.
  let version: ListVersion
  /// The size that it had when it was found; of a new list nothing.
  let size: TodoSize

  /// The list of a name; nil if there is none yet.
  init?(named name: String, in db: GRDB.Database) throws {
    guard let row = try db.row(.findList, [name.blob]) else { return nil }
    self.init(
      db: db, id: row[0], version: row[1], size: TodoSize(todos: row[2], bytes: row[3]))
  }

  private init(db: GRDB.Database, id: Int64, version: ListVersion, size: TodoSize) {
    self.db = db
    self.id = id
    self.version = version
    self.size = size
  }

  /// A new list.
  static func make(named name: String, in db: GRDB.Database) throws -> StoredList {
    try db.run(.makeList, [name.blob])
    return StoredList(db: db, id: db.lastInsertedRowID, version: 0, size: TodoSize())
  }

  /// The todos in order.
  func todos() throws -> TodoList {
    var todos: [Todo] = []
    let rows = try db.rows(.todos, [id])
    while let row = try rows.next() {
      todos.append(
        Todo(id: try row.text(0) ?? "", title: try row.text(1) ?? "", completed: row[2]))
    }
    return TodoList(KeyedList(todos), size: size)
  }

  /// The todos in order: those that were read before with what has changed since, or else all of them.
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
  /// The changes since a version, without a gap; nil where the log does not have them all.
  func changes(since version: ListVersion) throws -> [(ListVersion, TodoChange)]? {
    var changes: [(ListVersion, TodoChange)] = []
    var next = version + 1
    let rows = try db.rows(.logged, [id, version])
    while let row = try rows.next() {
      // An operation that a newer program has made is a gap like any other.
      guard row[0] == next, let change = try TodoChange(logged: row) else { return nil }
      changes.append((next, change))
      next += 1
    }
    return next == self.version + 1 ? changes : nil
  }

  /// Writes down a change as the next version, and now and then trims what is too old.
  ///
  /// - Parameter length: How many changes are kept at least; a quarter more at most.
  /// - Returns: The version that the change leads to.
  func log(_ change: TodoChange, keeping length: Int) throws -> ListVersion {
    let version = version + 1
    try db.run(.setVersion, [id, version])
    let entry = change.logEntry
    try db.run(
      .log,
      [id, version, entry.operation, entry.todo.blob, entry.title?.blob, entry.other?.blob])
    if version.isMultiple(of: Int64(max(1, length / 4))) {
      try db.run(.trim, [id, version - Int64(length)])
    }
    return version
  }
}

extension TodoChange {
  /// What the log says of a change; the words are in files on disks, so they never change.
  fileprivate var logEntry: (operation: String, todo: String, title: String?, other: String?) {
    switch self {
    case .addTodo(let todo): ("add", todo.id, todo.title, nil)
    case .removeTodo(let id): ("remove", id, nil, nil)
    case .renameTodo(let id, let title): ("rename", id, title, nil)
    case .completeTodo(let id): ("complete", id, nil, nil)
    case .reopenTodo(let id): ("reopen", id, nil, nil)
    case .moveTodo(let id, let before): ("move", id, nil, before)
    }
  }

  /// - Returns: Nil for an operation that this program does not know.
  fileprivate init?(logged row: Row) throws {
    let operation: String = row[1]
    let id = try row.text(2) ?? ""
    let title = try row.text(3)
    switch (operation, title) {
    case ("add", let title?): self = .addTodo(Todo(id: id, title: title))
    case ("remove", _): self = .removeTodo(id: id)
    case ("rename", let title?): self = .renameTodo(id: id, title: title)
    case ("complete", _): self = .completeTodo(id: id)
    case ("reopen", _): self = .reopenTodo(id: id)
    case ("move", _): self = .moveTodo(id: id, before: try row.text(4))
    default: return nil
    }
  }
}
