// SPDX-License-Identifier: Apache-2.0

internal import GRDBSQLite
internal import SQLiteFiles

/// An error code of SQLite.
struct SQLiteFailure: Error {
  /// An extended result code.
  let code: Int32
  /// The error that names the missing file, if a missing file is the cause.
  var missing: StorageError?

  /// The error for a full database: no id is free.
  static let full = SQLiteFailure(code: SQLITE_FULL)
  /// The error for a row that cannot be read.
  static let damage = SQLiteFailure(code: SQLITE_CORRUPT)

  /// True if the file, or a part of it, is not as SQLite wrote it.
  var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xFF) }

  /// SQLite's description of the code. SQLite's full message is not used: it could quote stored
  /// data.
  var reason: String { String(cString: sqlite3_errstr(code)) }
}

/// A connection to the journal file, with its prepared statements.
///
/// It uses SQLite's C interface and not GRDB: a transaction usually writes one row, and GRDB's
/// thread safety (queues, boxed arguments) would double the cost.
final class JournalDatabase {
  /// Nil after `close()`.
  private var connection: OpaquePointer?
  private var statements = [OpaquePointer?](repeating: nil, count: JournalStatement.allCases.count)
  private let logPages: UnsafeMutablePointer<Int32>
  /// The file and its log, after both exist; see `noteFiles`.
  private var files: OpenedFiles?
  /// The number of rows that were read since the connection was opened.
  private(set) var rowsRead = 0
  /// True if the file is so damaged that it can only be read as a whole, and has to be replaced.
  var mustBeReplaced = false

  /// Opens an existing file.
  init(_ path: String) throws(SQLiteFailure) {
    var connection: OpaquePointer?
    // One thread at a time uses the journal, so that SQLite's mutex is not needed.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &connection, flags, nil)
    guard code == SQLITE_OK, let connection else {
      sqlite3_close_v2(connection)
      throw SQLiteFailure(code: code)
    }
    self.connection = connection
    logPages = .allocate(capacity: 1)
    logPages.initialize(to: 0)
    sqlite3_wal_hook(
      connection,
      { context, _, _, pages in
        context?.assumingMemoryBound(to: Int32.self).pointee = pages
        return SQLITE_OK
      }, logPages)
  }

  deinit {
    close()
    logPages.deallocate()
  }

  /// Copies the log into the file, if that is possible, and closes both; the connection cannot be
  /// used afterwards.
  ///
  /// Call it before the file is renamed: SQLite would otherwise remove the log of the file that has
  /// the old name by then.
  func close() {
    for statement in statements { sqlite3_finalize(statement) }
    statements = statements.map { _ in nil }
    sqlite3_close_v2(connection)
    connection = nil
  }

  /// Records the identities of the open files, as the last step of opening.
  func noteFiles(_ path: String) { files = OpenedFiles(of: path) }

  /// Checks that the files are still at their paths.
  ///
  /// - Throws: A failure if one of the files was deleted, moved or replaced.
  func checkFiles() throws(SQLiteFailure) {
    do {
      try files?.check()
    } catch {
      // SQLITE_READONLY_DBMOVED, which SQLite itself reports only without a write-ahead log.
      throw SQLiteFailure(code: SQLITE_READONLY | 4 << 8, missing: error)
    }
  }

  /// The number of pages in the write-ahead log after the last commit.
  var pagesInLog: Int { Int(logPages.pointee) }

  /// Runs statements without parameters and without results.
  func execute(_ sql: String) throws(SQLiteFailure) {
    try check(sqlite3_exec(connection, sql, nil, nil, nil))
  }

  /// Returns the number in the first column of the first row.
  func number(_ sql: String) throws(SQLiteFailure) -> Int64 {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    let code = sqlite3_step(statement)
    guard code == SQLITE_ROW else { throw SQLiteFailure(code: code) }
    return sqlite3_column_int64(statement, 0)
  }

  /// True after damaged indexes were replaced.
  private(set) var hasNewIndexes = false

  /// Builds all indexes again from their tables.
  func rebuildIndexes() throws(SQLiteFailure) { try execute("REINDEX;") }

  /// Replaces all indexes, of which pages are damaged.
  ///
  /// `REINDEX` and `DROP INDEX` would read these pages. They are not used again, so this is done once.
  ///
  /// - Throws: `SQLiteFailure.damage` also if they were replaced before.
  func replaceIndexes() throws(SQLiteFailure) {
    guard !hasNewIndexes else { throw .damage }
    hasNewIndexes = true
    let indexes = try texts(
      "SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    do throws(SQLiteFailure) {
      try execute(
        """
        BEGIN IMMEDIATE;
        PRAGMA writable_schema = ON;
        DELETE FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL;
        PRAGMA writable_schema = RESET;
        \(indexes.joined(separator: ";\n"));
        COMMIT;
        """)
    } catch {
      try? execute("ROLLBACK;")
      try? execute("PRAGMA writable_schema = RESET;")
      throw error
    }
  }

  /// Returns the texts in the first column of all rows.
  private func texts(_ sql: String) throws(SQLiteFailure) -> [String] {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    var texts: [String] = []
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return texts }
      guard code == SQLITE_ROW else { throw SQLiteFailure(code: code) }
      texts.append(String(decoding: Self.bytes(statement, 0), as: UTF8.self))
    }
  }

  /// Copies the write-ahead log into the file and empties the log.
  func checkpoint() throws(SQLiteFailure) {
    try check(
      sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
    logPages.pointee = 0
  }

  // MARK: Statements

  /// An argument of a statement.
  enum Value {
    case null
    case integer(Int64)
    case blob([UInt8])
  }

  /// Runs a statement that returns no rows.
  func run(_ statement: JournalStatement, _ values: Value...) throws(SQLiteFailure) {
    let pointer = try prepared(statement)
    bind(values, to: pointer)
    let code = sqlite3_step(pointer)
    reset(pointer)
    guard code == SQLITE_DONE else { throw SQLiteFailure(code: code) }
  }

  /// Writes a row with a number as its key, which most rows have; `data` is not copied.
  func put(_ statement: JournalStatement, _ id: Int64, _ data: [UInt8]) throws(SQLiteFailure) {
    let pointer = try prepared(statement)
    sqlite3_bind_int64(pointer, 1, id)
    let code = data.withUnsafeBytes { bytes in
      sqlite3_bind_blob64(pointer, 2, bytes.baseAddress, UInt64(bytes.count), nil)
      return sqlite3_step(pointer)
    }
    reset(pointer)
    guard code == SQLITE_DONE else { throw SQLiteFailure(code: code) }
  }

  /// A row that a statement returns.
  struct Row {
    /// The first column, if it is a number; otherwise 0.
    let id: Int64
    /// The first column, if it is a blob; otherwise empty.
    let key: [UInt8]
    let data: [UInt8]
  }

  /// The rows that could be read, and the error that ended the reading, if there was one.
  struct Rows {
    var found: [Row] = []
    var failure: SQLiteFailure?
  }

  /// Returns the rows of a statement with two columns: a number or a blob, and a blob.
  ///
  /// - Throws: A failure other than damage.
  func rows(_ statement: JournalStatement, _ values: Value...) throws(SQLiteFailure) -> Rows {
    try rows(statement, values)
  }

  /// Returns the rows of a statement with two columns, as above.
  func rows(_ statement: JournalStatement, _ values: [Value]) throws(SQLiteFailure) -> Rows {
    var rows = Rows()
    rows.failure = try read(statement, values) { row in
      rows.found.append(row)
      return true
    }
    return rows
  }

  /// Returns all rows of a statement with two columns.
  ///
  /// - Throws: A failure, also damage.
  func allRows(_ statement: JournalStatement, _ values: Value...) throws(SQLiteFailure) -> [Row] {
    let rows = try rows(statement, values)
    if let failure = rows.failure { throw failure }
    return rows.found
  }

  /// Calls `body` with each row, until it returns false or a row cannot be read.
  ///
  /// - Returns: The damage that ended the reading; nil if there was none.
  /// - Throws: A failure other than damage.
  func read(
    _ statement: JournalStatement, _ values: [Value], _ body: (Row) -> Bool
  ) throws(SQLiteFailure) -> SQLiteFailure? {
    let pointer: OpaquePointer
    do {
      pointer = try prepared(statement)
    } catch {
      guard error.isDamage else { throw error }
      return error
    }
    bind(values, to: pointer)
    defer { reset(pointer) }
    while true {
      let code = sqlite3_step(pointer)
      guard code == SQLITE_ROW else {
        if code == SQLITE_DONE { return nil }
        let failure = SQLiteFailure(code: code)
        // A failure other than damage may be temporary: the whole read fails.
        guard failure.isDamage else { throw failure }
        return failure
      }
      rowsRead += 1
      let isNumber = sqlite3_column_type(pointer, 0) == SQLITE_INTEGER
      let row = Row(
        id: isNumber ? sqlite3_column_int64(pointer, 0) : 0,
        key: isNumber ? [] : Self.bytes(pointer, 0), data: Self.bytes(pointer, 1))
      guard body(row) else { return nil }
    }
  }

  private func bind(_ values: [Value], to pointer: OpaquePointer) {
    for (index, value) in values.enumerated() {
      let position = Int32(index + 1)
      switch value {
      case .null:
        sqlite3_bind_null(pointer, position)
      case .integer(let number):
        sqlite3_bind_int64(pointer, position, number)
      case .blob(let bytes):
        // An empty array may have no address, and SQLite binds a missing address as null.
        if bytes.isEmpty {
          sqlite3_bind_zeroblob(pointer, position, 0)
        } else {
          sqlite3_bind_blob64(
            pointer, position, bytes, UInt64(bytes.count),
            unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
      }
    }
  }

  private func reset(_ pointer: OpaquePointer) {
    sqlite3_reset(pointer)
    sqlite3_clear_bindings(pointer)
  }

  private func prepared(_ statement: JournalStatement) throws(SQLiteFailure) -> OpaquePointer {
    if let pointer = statements[statement.rawValue] { return pointer }
    let pointer = try prepare(statement.sql)
    statements[statement.rawValue] = pointer
    return pointer
  }

  private func prepare(_ sql: String) throws(SQLiteFailure) -> OpaquePointer {
    var pointer: OpaquePointer?
    let code = sqlite3_prepare_v3(
      connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    // The tables are not as this program created them.
    guard code != SQLITE_ERROR else { throw SQLiteFailure(code: SQLITE_CORRUPT) }
    try check(code)
    guard let pointer else { throw SQLiteFailure(code: SQLITE_MISUSE) }
    return pointer
  }

  private func check(_ code: Int32) throws(SQLiteFailure) {
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
  }

  private static func bytes(_ pointer: OpaquePointer, _ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(pointer, column) else { return [] }
    return Array(
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column))))
  }
}
