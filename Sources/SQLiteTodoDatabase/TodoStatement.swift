// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB

/// The SQL statements of the todo lists; each is prepared once per connection.
///
/// Each finds its rows by a key or an index, so that its cost does not grow with the list; a test
/// checks SQLite's query plans.
enum TodoStatement: String, CaseIterable {
  // Lists.
  case findList = "SELECT id, version, todos, bytes FROM todoList WHERE name = ?"
  case makeList = "INSERT INTO todoList (name, version) VALUES (?, 0)"
  case setVersion = "UPDATE todoList SET version = ?2 WHERE id = ?1"

  case size = "SELECT todos, bytes FROM todoList WHERE id = ?"
  case total = "SELECT todos, bytes FROM todoTotal WHERE id = 1"

  // Todos.
  case todos = "SELECT id, title, completed FROM todo WHERE list = ? ORDER BY position"
  case insert =
    "INSERT INTO todo (list, position, id, title, completed) VALUES (?, ?, ?, ?, 0)"
  case remove = "DELETE FROM todo WHERE list = ? AND id = ?"
  case rename = "UPDATE todo SET title = ?3 WHERE list = ?1 AND id = ?2 AND title <> ?3"
  case setCompleted =
    "UPDATE todo SET completed = ?3 WHERE list = ?1 AND id = ?2 AND completed <> ?3"
  case setPosition = "UPDATE todo SET position = ?3 WHERE list = ?1 AND position = ?2"

  // Positions.
  case position = "SELECT position FROM todo WHERE list = ? AND id = ?"
  case last = "SELECT max(position) FROM todo WHERE list = ?"
  case lastBefore = "SELECT max(position) FROM todo WHERE list = ? AND position < ?"
  case before =
    "SELECT position FROM todo WHERE list = ? AND position < ? ORDER BY position DESC LIMIT ?"
  case from =
    "SELECT position FROM todo WHERE list = ? AND position >= ? ORDER BY position LIMIT ?"

  // The change log.
  case log =
    "INSERT INTO todoChange (list, version, operation, todo, title, other) VALUES (?, ?, ?, ?, ?, ?)"
  case logged =
    "SELECT version, operation, todo, title, other FROM todoChange WHERE list = ? AND version > ? ORDER BY version"
  case trim = "DELETE FROM todoChange WHERE list = ? AND version <= ?"

  // Operations that were carried out.
  case remember = "INSERT INTO operation (id, version) VALUES (?, ?)"
  case remembered = "SELECT version FROM operation WHERE id = ?"
  case forget = "DELETE FROM operation WHERE number <= ?"
}

extension GRDB.Database {
  /// Runs a statement.
  ///
  /// - Returns: The number of changed rows.
  @discardableResult
  func run(_ statement: TodoStatement, _ arguments: StatementArguments) throws -> Int {
    try cachedStatement(sql: statement.rawValue).execute(arguments: arguments)
    return changesCount
  }

  /// Returns the first row that a statement finds; nil if there is none.
  func row(_ statement: TodoStatement, _ arguments: StatementArguments) throws -> Row? {
    try Row.fetchOne(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }

  /// Returns the rows that a statement finds. A row is valid until the next one is read, and while
  /// the cursor exists.
  func rows(
    _ statement: TodoStatement, _ arguments: StatementArguments
  ) throws -> RowCursor {
    try Row.fetchCursor(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }

  /// Returns the numbers in the first column of the rows that a statement finds.
  func numbers(
    _ statement: TodoStatement, _ arguments: StatementArguments
  ) throws -> [Int64] {
    try Int64.fetchAll(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }

  /// Returns the size in the first two columns of the first row; zero if there is no row.
  func size(_ statement: TodoStatement, _ arguments: StatementArguments) throws -> TodoSize {
    try row(statement, arguments).map { TodoSize(todos: $0[0], bytes: $0[1]) } ?? TodoSize()
  }

  /// Returns the number in the first column of the first row; nil if there is no row or it is null.
  func number(_ statement: TodoStatement, _ arguments: StatementArguments) throws -> Int64? {
    try Int64.fetchOne(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }
}
