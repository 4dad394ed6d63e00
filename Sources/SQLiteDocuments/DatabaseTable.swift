// SPDX-License-Identifier: Apache-2.0

internal import Documents
internal import Foundation
internal import GRDB
internal import SQLiteFiles

/// A table in the database, within one transaction.
struct DatabaseTable {
  let db: GRDB.Database
  let name: String
  /// The number of the table in the file; nil if it does not exist yet.
  private let id: Int64?
  let position: TablePosition
  private let forgotten: TablePosition
  private let size: StoredSize

  /// Finds the table with a name.
  init(named name: String, in db: GRDB.Database) throws {
    (self.db, self.name) = (db, name)
    if let row = try db.row(.findTable, [name.blob]) {
      let position: Int64 = row[1]
      // So many changes were never made; the next one must not overflow.
      guard (0...1 << 60).contains(position) else {
        throw DatabaseError(resultCode: .SQLITE_CORRUPT)
      }
      (id, self.position) = (row[0], TablePosition(rawValue: position))
      forgotten = TablePosition(rawValue: row[2])
      size = StoredSize(count: row[3], bytes: row[4])
    } else {
      (id, position, forgotten, size) = (nil, 0, 0, StoredSize())
    }
  }

  /// Returns the row with an id; nil if there is none.
  func row(_ rowID: String) throws -> StoredRow? {
    guard let id else { return nil }
    return try db.row(.row, [id, rowID.blob]).map(StoredRow.init)
  }

  /// Returns the changes since a position, or all rows if they are not known or the position is nil.
  func read(after known: TablePosition?) throws -> StoredRows {
    guard let id else { return StoredRows(isComplete: true, changes: [], position: 0) }
    var changes: [StoredChange] = []
    let isComplete = known.map { $0 < forgotten || $0 > position } ?? true
    let rows: RowCursor
    if let known, !isComplete {
      if known == position {
        return StoredRows(isComplete: false, changes: [], position: position)
      }
      let removals = try db.rows(.removalsAfter, [id, known.rawValue])
      while let row = try removals.next() {
        changes.append(.removed(id: try row.text(0) ?? ""))
      }
      rows = try db.rows(.rowsAfter, [id, known.rawValue])
    } else {
      rows = try db.rows(.rows, [id])
    }
    while let row = try rows.next() { changes.append(.put(try StoredRow(row))) }
    return StoredRows(isComplete: isComplete, changes: changes, position: position)
  }

  /// Carries out changes.
  ///
  /// - Parameters:
  ///   - changes: The changes, in order. Removals of rows that do not exist are left out.
  ///   - limits: The largest tables.
  ///   - removals: The minimum number of removals that stay known.
  /// - Returns: The changes that were carried out; the last one has led to the position afterwards.
  /// - Throws: `DocumentError` if a limit is exceeded; the caller rolls back.
  func apply(
    _ changes: [StoredChange], limits: DocumentLimits, keeping removals: Int
  ) throws -> [StoredChange] {
    try limits.check(changes, of: name)
    let isNew = id == nil
    guard let id = try id ?? make(for: changes) else { return [] }
    var (carriedOut, next, size) = ([StoredChange](), position, self.size)
    for change in changes {
      let (rowID, new): (String, StoredRow?) =
        switch change {
        case .put(let row): (row.id, row)
        case .removed(let rowID): (rowID, nil)
        }
      let old = try row(rowID, in: id)
      guard old != nil || new != nil else { continue }
      next = next + 1
      carriedOut.append(change)
      switch (old, new) {
      case (nil, let new?):
        try db.run(
          .insert, [id, rowID.blob, next.rawValue, new.version, Data(new.value)])
      case (_?, let new?):
        try db.run(
          .update, [id, rowID.blob, next.rawValue, new.version, Data(new.value)])
      case (_, nil):
        try db.run(.remove, [id, rowID.blob])
        try db.run(.addRemoval, [id, next.rawValue, rowID.blob])
      }
      size.count += (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
      size.bytes += (new?.size ?? 0) - (old?.size ?? 0)
    }
    if carriedOut.isEmpty { return [] }
    try check(size, isNew: isNew, limits)
    try db.run(.setTable, [id, next.rawValue, size.count, size.bytes])
    try forgetRemovals(in: id, keeping: removals, from: position, to: next)
    return carriedOut
  }

  private func row(_ rowID: String, in id: Int64) throws -> StoredRow? {
    try db.row(.row, [id, rowID.blob]).map(StoredRow.init)
  }

  /// Creates the table.
  ///
  /// - Returns: Nil if no change puts a row.
  private func make(for changes: [StoredChange]) throws -> Int64? {
    let putsRow = changes.contains { if case .put = $0 { true } else { false } }
    guard putsRow else { return nil }
    try db.run(.makeTable, [name.blob])
    return db.lastInsertedRowID
  }

  private func check(_ size: StoredSize, isNew: Bool, _ limits: DocumentLimits) throws {
    guard let row = try db.row(.total, []) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    let old = StoredSize(count: row[0], bytes: row[1])
    let new = StoredSize(
      count: old.count + (isNew ? 1 : 0), bytes: old.bytes + size.bytes - self.size.bytes)
    try limits.check(table: size, from: self.size, storage: new, from: old)
    if new != old { try db.run(.setTotal, [new.count, new.bytes]) }
  }

  /// Occasionally forgets old removals, so that those that stay are at most a quarter more than
  /// necessary.
  private func forgetRemovals(
    in id: Int64, keeping length: Int, from old: TablePosition, to new: TablePosition
  ) throws {
    let interval = Int64(max(1, length / 4))
    guard old.rawValue / interval != new.rawValue / interval,
      let position = try db.number(.oldRemoval, [id, length])
    else { return }
    try db.run(.forgetRemovals, [id, position])
    try db.run(.setForgotten, [id, position])
  }
}

extension StoredRow {
  /// Reads a row with the columns id, version and value.
  fileprivate init(_ row: Row) throws {
    let value = try row.withUnsafeData(atIndex: 2) { $0.map { [UInt8]($0) } ?? [] }
    self.init(id: try row.text(0) ?? "", version: row[1], value: value)
  }
}
