// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// The part of the migration of a journal that SQL cannot do: it reads rows.
enum JournalMigration {
  /// Fills the columns by which sessions are found, in the transaction that adds them.
  ///
  /// - Throws: `SQLiteFailure`; one with `isDamage` also if a row cannot be read. The file then has
  ///   to be read as a whole and replaced, which keeps everything that can be read.
  static func fillColumns(_ database: JournalDatabase) throws(SQLiteFailure) {
    var position: Int64 = 0
    var stores: [Int64: [Int64]]?
    while true {
      let rows = try rows(database, .nextSessions, .integer(position), .integer(rowsAtATime))
      for found in rows {
        var row: SessionRow
        do { row = try SessionRow(found.data, found.id) } catch { throw .damage }
        if row.stores.count != row.storeCount {
          // An earlier version of this program wrote the row without the ids of its stores.
          if stores == nil { stores = try storeIDs(database) }
          row.setStores(stores?[found.id] ?? [])
        }
        try database.put(row, found.id)
        position = found.id
      }
      if rows.count < rowsAtATime { break }
    }
    for found in try rows(database, .ended) {
      let row: EndedRow
      do { row = try EndedRow(found.data, found.id) } catch { throw .damage }
      try database.put(row, found.id)
    }
  }

  /// Reads the ids of the stores of each session, in the order in which they were opened first.
  private static func storeIDs(
    _ database: JournalDatabase
  ) throws(SQLiteFailure) -> [Int64: [Int64]] {
    var stores: [Int64: [(id: Int64, order: Int)]] = [:]
    for found in try rows(database, .stores) {
      guard let row = try? StoreRow(found.data, found.id) else { throw .damage }
      stores[row.session, default: []].append((found.id, row.order))
    }
    return stores.mapValues { $0.sorted { $0.order < $1.order }.map(\.id) }
  }

  private static func rows(
    _ database: JournalDatabase, _ statement: JournalStatement, _ values: JournalDatabase.Value...
  ) throws(SQLiteFailure) -> [JournalDatabase.Row] {
    let rows = try database.rows(statement, values)
    if let failure = rows.failure { throw failure }
    return rows.found
  }

  private static let rowsAtATime: Int64 = 1000
}

extension JournalDatabase {
  /// Writes the row of a session, and the columns by which it is found.
  func put(_ row: SessionRow, _ id: Int64) throws(SQLiteFailure) {
    try run(
      .putSession, .integer(id), .blob(row.bytes(id)), .blob(row.handle.bytes),
      row.deadline.map { .integer($0.nanoseconds) } ?? .null,
      .integer(row.deadline == nil || row.continuesAlone ? 1 : 0),
      .integer(JournalStart.isOwnerOfShared(row.owner) ? 1 : 0))
  }

  /// Writes the row of an ended session.
  func put(_ row: EndedRow, _ id: Int64) throws(SQLiteFailure) {
    try run(.putEnded, .integer(id), .blob(row.bytes(id)), .blob(row.handle.bytes))
  }
}

extension SessionHandle {
  /// The handle as a key.
  var bytes: [UInt8] {
    [bits.high, bits.low].flatMap { number in withUnsafeBytes(of: number.bigEndian, Array.init) }
  }
}

extension Duration {
  /// The number of nanoseconds; the largest possible number for a longer duration.
  var nanoseconds: Int64 {
    Int64(clamping: attoseconds / 1_000_000_000)
  }
}
