// SPDX-License-Identifier: Apache-2.0

internal import GRDBSQLite
internal import SQLiteFiles

/// What SQLite has said instead of doing what it was asked for.
struct SQLiteFailure: Error {
  /// An extended result code.
  let code: Int32
  /// The file that is not there any more, where that is the reason.
  var missing: StorageError?

  /// There is no room.
  static let full = SQLiteFailure(code: SQLITE_FULL)

  /// The file, or a part of it, is not what SQLite has written.
  var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xFF) }

  /// SQLite's own words for the number; its message could quote what is stored.
  var reason: String { String(cString: sqlite3_errstr(code)) }
}

/// A connection to the journal's file, with its prepared statements.
///
/// SQLite's own interface and not GRDB's: a turn is one row, mostly, and what makes GRDB safe to use from everywhere
/// (queues, boxed arguments) would cost as much again.
final class JournalDatabase {
  /// Nil once it is closed.
  private var connection: OpaquePointer?
  private var statements = [OpaquePointer?](repeating: nil, count: JournalStatement.allCases.count)
  private let logPages: UnsafeMutablePointer<Int32>
  /// The file and its log, once both are there; see `noteFiles`.
  private var files: OpenedFiles?
  /// How many rows were read up to now.
  private(set) var rowsRead = 0

  /// Opens a file that is there.
  init(_ path: String) throws(SQLiteFailure) {
    var connection: OpaquePointer?
    // The journal is used by one thread at a time, so that SQLite's own mutex is not needed.
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

  /// Takes the log into the file, if that can be done, and lets go of both; nothing can be asked for
  /// any more.
  ///
  /// Before the file gets another name: the log of whatever has the old name then would go.
  func close() {
    for statement in statements { sqlite3_finalize(statement) }
    statements = statements.map { _ in nil }
    sqlite3_close_v2(connection)
    connection = nil
  }

  /// Notes which files are open, at the end of opening them.
  func noteFiles(_ path: String) { files = OpenedFiles(of: path) }

  /// - Throws: A failure if one of the files was deleted, moved or replaced.
  func checkFiles() throws(SQLiteFailure) {
    do {
      try files?.check()
    } catch {
      // SQLITE_READONLY_DBMOVED, as SQLite says where it has no write-ahead log.
      throw SQLiteFailure(code: SQLITE_READONLY | 4 << 8, missing: error)
    }
  }

  /// How many pages the write-ahead log had after the last commit.
  var pagesInLog: Int { Int(logPages.pointee) }

  func execute(_ sql: String) throws(SQLiteFailure) {
    try check(sqlite3_exec(connection, sql, nil, nil, nil))
  }

  /// The number that a statement gives.
  func number(_ sql: String) throws(SQLiteFailure) -> Int64 {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    let code = sqlite3_step(statement)
    guard code == SQLITE_ROW else { throw SQLiteFailure(code: code) }
    return sqlite3_column_int64(statement, 0)
  }

  /// Takes the write-ahead log into the file, and empties it.
  func checkpoint() throws(SQLiteFailure) {
    try check(
      sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
    logPages.pointee = 0
  }

  // MARK: Statements

  /// A value of a statement.
  enum Value {
    case integer(Int64)
    case blob([UInt8])
  }

  /// Runs a statement that gives no rows.
  func run(_ statement: JournalStatement, _ values: Value...) throws(SQLiteFailure) {
    let pointer = try prepared(statement)
    bind(values, to: pointer)
    let code = sqlite3_step(pointer)
    reset(pointer)
    guard code == SQLITE_DONE else { throw SQLiteFailure(code: code) }
  }

  /// Puts a row by a number, as most rows are; nothing is copied.
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

  /// A row of a statement that reads.
  struct Row {
    /// The first column, if it is a number.
    let id: Int64
    /// The first column, if it is bytes.
    let key: [UInt8]
    let data: [UInt8]
  }

  /// Rows as far as they could be read, and why no further.
  struct Rows {
    var found: [Row] = []
    var failure: SQLiteFailure?
  }

  /// The rows of a statement that gives a number, or bytes, and bytes.
  func rows(_ statement: JournalStatement, _ values: Value...) throws(SQLiteFailure) -> Rows {
    var rows = Rows()
    rows.failure = try read(statement, values) { row in
      rows.found.append(row)
      return true
    }
    return rows
  }

  /// Calls `body` with one row after the other, as far as they can be read and as long as it says
  /// that it wants another.
  ///
  /// - Returns: Why no further, if they could not be read to the end.
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
        // What is no damage may be gone the next time: whoever reads has nothing then.
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
      case .integer(let number):
        sqlite3_bind_int64(pointer, position, number)
      case .blob(let bytes):
        // An empty array may have no address, and no address is null.
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
    // The tables are not those that were made.
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
