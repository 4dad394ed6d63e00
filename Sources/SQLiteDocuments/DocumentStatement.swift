// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The SQL statements of the tables; each is prepared once per connection.
///
/// Each finds its rows by a key or an index; a test checks SQLite's query plans.
enum DocumentStatement: String, CaseIterable {
  // Tables.
  case findTable =
    "SELECT id, position, forgotten, rows, bytes FROM documentTable WHERE name = ?"
  case makeTable = "INSERT INTO documentTable (name) VALUES (?)"
  case setTable = "UPDATE documentTable SET position = ?2, rows = ?3, bytes = ?4 WHERE id = ?1"
  case setForgotten = "UPDATE documentTable SET forgotten = ?2 WHERE id = ?1"
  case total = "SELECT tables, bytes FROM documentTotal WHERE id = 1"
  case setTotal = "UPDATE documentTotal SET tables = ?1, bytes = ?2 WHERE id = 1"

  // Rows.
  case row = "SELECT id, version, value FROM documentRow WHERE tableID = ? AND id = ?"
  case rows =
    "SELECT id, version, value FROM documentRow INDEXED BY documentRowByTable WHERE tableID = ? ORDER BY number"
  case rowsAfter =
    "SELECT id, version, value FROM documentRow INDEXED BY documentRowByChange WHERE tableID = ? AND changed > ? ORDER BY number"
  case insert =
    "INSERT INTO documentRow (tableID, id, changed, version, value) VALUES (?, ?, ?, ?, ?)"
  case update =
    "UPDATE documentRow SET changed = ?3, version = ?4, value = ?5 WHERE tableID = ?1 AND id = ?2"
  case remove = "DELETE FROM documentRow WHERE tableID = ? AND id = ?"

  // Removals.
  case addRemoval = "INSERT INTO documentRemoval (tableID, position, id) VALUES (?, ?, ?)"
  case removalsAfter =
    "SELECT id FROM documentRemoval WHERE tableID = ? AND position > ? ORDER BY position"
  case oldRemoval =
    "SELECT position FROM documentRemoval WHERE tableID = ? ORDER BY position DESC LIMIT 1 OFFSET ?"
  case forgetRemovals = "DELETE FROM documentRemoval WHERE tableID = ? AND position <= ?"

  // Writes that were carried out.
  case remember = "INSERT INTO documentOperation (id, position) VALUES (?, ?)"
  case remembered = "SELECT position FROM documentOperation WHERE id = ?"
  case forget = "DELETE FROM documentOperation WHERE number <= ?"
}

extension GRDB.Database {
  /// Runs a statement.
  ///
  /// - Returns: The number of changed rows.
  @discardableResult
  func run(_ statement: DocumentStatement, _ arguments: StatementArguments) throws -> Int {
    try cachedStatement(sql: statement.rawValue).execute(arguments: arguments)
    return changesCount
  }

  /// Returns the first row that a statement finds; nil if there is none.
  func row(_ statement: DocumentStatement, _ arguments: StatementArguments) throws -> Row? {
    try Row.fetchOne(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }

  /// Returns the rows that a statement finds. A row is valid until the next one is read, and while
  /// the cursor exists.
  func rows(_ statement: DocumentStatement, _ arguments: StatementArguments) throws -> RowCursor {
    try Row.fetchCursor(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }

  /// Returns the number in the first column of the first row; nil if there is no row.
  func number(
    _ statement: DocumentStatement, _ arguments: StatementArguments
  ) throws -> Int64? {
    try Int64.fetchOne(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }
}
