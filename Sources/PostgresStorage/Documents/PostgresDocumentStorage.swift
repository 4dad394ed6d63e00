// SPDX-License-Identifier: Apache-2.0

public import Documents
internal import PostgresConnections
internal import StateMachines
internal import StoredTodoLists

/// Storage for tables and documents in PostgreSQL, which all nodes share.
///
/// The updates of a table that come at the same time are one transaction; see `TableUpdates`.
public final class PostgresDocumentStorage: DocumentStorage {
  let listeners = TableListeners()
  private let parts: StorageParts
  private let reads = SharedReads<ReadKey, StoredRows>()
  /// The updates in progress of each table, and their number.
  private let updates = Lock<[ByteString: (updates: TableUpdates, users: Int)]>([:])
  /// The position of each watched table that was passed on to the listeners.
  private let seen = Lock<[ByteString: TablePosition]>([:])
  /// The tables of the reading in progress, each with the position since which it is read.
  private let asked = Lock<[(table: ByteString, position: TablePosition)]>([])

  private struct ReadKey: Hashable {
    let table: ByteString
    let position: TablePosition?
  }

  init(_ parts: StorageParts) { self.parts = parts }

  /// Reads rows of a table; see `DocumentStorage`.
  public func read(
    _ table: String, after position: TablePosition?
  ) async throws(DocumentError) -> StoredRows {
    let name = ByteString(table)
    do {
      let rows = try await reads.read(ReadKey(table: name, position: position)) { [parts] in
        let reading = PostgresTransaction(
          DocumentStatements.read, .text(table), position.map { .integer($0.rawValue) } ?? .null)
        let rows = try await parts.changes.read(reading, isPatient: false)[0]
        return StoredRows(rows, 0..<rows.count)
      }
      parts.incidents.end()
      see(name, rows.position, isExact: rows.isComplete)
      return rows
    } catch {
      throw failure(error, "A table of a store could not be read")
    }
  }

  /// Changes rows of a table; see `DocumentStorage`.
  public func update(
    _ table: String, reading ids: [String], once operation: String?,
    _ change:
      @escaping @Sendable (_ rows: [StoredRow?], _ next: TablePosition) throws(DocumentError) ->
      [StoredChange]
  ) async throws(DocumentError) -> TablePosition {
    let name = ByteString(table)
    let update = TableUpdate(
      ids: ids, operation: operation ?? RandomUUID.text(), isRepeatable: operation != nil,
      change: change)
    let updates = begin(name)
    defer { end(name) }
    do {
      let position = try await updates.perform(update)
      parts.incidents.end()
      return position
    } catch {
      throw failure(error, "A table of a store could not be changed")
    }
  }

  private func begin(_ table: ByteString) -> TableUpdates {
    updates.withLock { tables in
      let known = tables[table]?.updates
      let updates =
        known
        ?? TableUpdates(of: table.string, parts) { [weak self] in self?.passOn($0, table) }
      tables[table] = (updates, (tables[table]?.users ?? 0) + 1)
      return updates
    }
  }

  private func end(_ table: ByteString) {
    updates.withLock { tables in
      tables[table]?.users -= 1
      if tables[table]?.users == 0 { tables[table] = nil }
    }
  }

  /// Returns notices of changes; see `DocumentStorage`.
  public func notices(of table: String) -> AsyncStream<TableNotice> { listeners.notices(of: table) }

  /// Notifies the listeners and the other nodes of an update.
  private func passOn(_ notice: TableNotice, _ table: ByteString) {
    listeners.notify(table.string, notice)
    guard !notice.changes.isEmpty else { return }
    see(table, notice.position)
    parts.changes.announce()
  }

  private func see(_ table: ByteString, _ position: TablePosition, isExact: Bool = false) {
    seen.withLock { seen in
      seen[table] = isExact ? position : max(position, seen[table] ?? position)
    }
  }

  /// Reports a failure to the operator, and returns the error for the store.
  private func failure(_ error: any Error, _ what: String) -> DocumentError {
    switch error {
    case let error as DocumentError: return error
    case is CancellationError: return DocumentError(.cancelled, "the work was cancelled")
    default: break
    }
    parts.incidents.add(what, error)
    let error = error as? PostgresError
    if error?.isFull == true {
      return DocumentError(.full, "the disk of the storage is full")
    }
    if error?.isReadOnly == true {
      return DocumentError(.readOnly, "the storage cannot be written")
    }
    return DocumentError(.unavailable, "the storage cannot be used now")
  }
}

extension PostgresDocumentStorage: ChangeFeed.Source {
  var hasListeners: Bool { !listeners.isEmpty }

  func additions() -> AsyncStream<Void> { listeners.additions() }

  func reading() -> (statement: PostgresStatement, parameters: [PostgresParameter])? {
    let watched = Set(listeners.tables.map(ByteString.init))
    let tables = seen.withLock { seen in
      seen = seen.filter { watched.contains($0.key) }
      return seen.map { (table: $0.key, position: $0.value) }
    }
    asked.withLock { $0 = tables }
    if tables.isEmpty { return nil }
    return (
      DocumentStatements.changes,
      [
        .byteArrays(tables.map { Array($0.table.string.utf8) }),
        .integers(tables.map(\.position.rawValue)),
      ]
    )
  }

  func take(_ rows: PostgresRows) {
    let tables = asked.withLock { $0 }
    var row = 0
    while row < rows.count {
      let place = rows.integer(row, 0) ?? 1
      let first = row
      while row < rows.count, rows.integer(row, 0) == place { row += 1 }
      let (table, start) = tables[Int(place) - 1]
      let read = StoredRows(rows, first..<row, column: 1)
      see(table, read.position)
      listeners.notify(
        table.string,
        read.isComplete
          ? TableNotice(position: read.position)
          : TableNotice(position: read.position, start: start, changes: read.changes))
    }
  }
}
