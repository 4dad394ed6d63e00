// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import VersionedList

/// Storage in memory: for tests, and for a server without a data folder.
///
/// It has the guarantees of a database, except that it ends with the object.
public final class MemoryDocumentStorage: DocumentStorage {
  /// A table.
  private struct MemoryTable {
    struct Entry {
      /// The position at which the row was added.
      let added: TablePosition
      /// The position of its last change.
      var changed: TablePosition
      var row: StoredRow
    }

    var position: TablePosition = 0
    var rows: [ByteString: Entry] = [:]
    var size = StoredSize()
    var removals: [(position: TablePosition, id: String)] = []
    /// Removals up to here are no longer known.
    var forgotten: TablePosition = 0

    mutating func apply(_ change: StoredChange) {
      position = position + 1
      switch change {
      case .put(let row):
        let old = rows[ByteString(row.id)]
        remove(old)
        rows[ByteString(row.id)] = Entry(
          added: old?.added ?? position, changed: position, row: row)
        size.count += 1
        size.bytes += row.size
      case .removed(let id):
        remove(rows.removeValue(forKey: ByteString(id)))
        removals.append((position, id))
      }
    }

    private mutating func remove(_ entry: Entry?) {
      guard let entry else { return }
      size.count -= 1
      size.bytes -= entry.row.size
    }

    /// Returns the size after changes.
    func size(after changes: [StoredChange]) -> StoredSize {
      var sizes: [ByteString: Int] = [:]
      for change in changes {
        switch change {
        case .put(let row): sizes[ByteString(row.id)] = row.size
        case .removed(let id): sizes[ByteString(id)] = 0
        }
      }
      var result = size
      for (id, bytes) in sizes {
        let old = rows[id]?.row.size ?? 0
        result.count += (bytes > 0 ? 1 : 0) - (old > 0 ? 1 : 0)
        result.bytes += bytes - old
      }
      return result
    }

    /// Forgets old removals.
    mutating func trim(to length: Int) {
      guard removals.count > length + length / 4 else { return }
      let old = removals.count - length
      forgotten = removals[old - 1].position
      removals.removeFirst(old)
    }

    func read(after known: TablePosition?) -> StoredRows {
      let isComplete = known.map { $0 < forgotten || $0 > position } ?? true
      let known = isComplete ? nil : known
      let removed = known.map { known in
        removals.filter { $0.position > known }.map { StoredChange.removed(id: $0.id) }
      }
      let rows = rows.values.filter { entry in known.map { entry.changed > $0 } ?? true }
        .sorted { $0.added < $1.added }
      return StoredRows(
        isComplete: isComplete, changes: (removed ?? []) + rows.map { .put($0.row) },
        position: position)
    }
  }

  private struct State {
    var tables: [ByteString: MemoryTable] = [:]
    var bytes = 0
    /// The positions of writes that were carried out, by their ids.
    var operations: [ByteString: TablePosition] = [:]
    var order: [ByteString] = []

    /// Applies changes in place.
    mutating func apply(_ changes: [StoredChange], to table: ByteString, keeping removals: Int) {
      for change in changes { tables[table, default: MemoryTable()].apply(change) }
      tables[table]?.trim(to: removals)
    }

    mutating func remember(_ operation: ByteString, _ position: TablePosition) {
      operations[operation] = position
      order.append(operation)
      guard order.count > 2 * MemoryDocumentStorage.rememberedOperations else { return }
      let old = order.prefix(MemoryDocumentStorage.rememberedOperations)
      for operation in old { operations[operation] = nil }
      order.removeFirst(old.count)
    }
  }

  private static var rememberedOperations: Int { 10_000 }

  private let state = Lock(State())
  private let listeners = TableListeners()
  private let limits: DocumentLimits
  private let removals: Int

  /// Creates an empty storage.
  ///
  /// - Parameters:
  ///   - limits: The largest tables.
  ///   - removals: The minimum number of removed rows of a table that are known. A watch that misses
  ///     more receives all rows.
  public init(limits: DocumentLimits = DocumentLimits(), removals: Int = 1000) {
    (self.limits, self.removals) = (limits, removals)
  }

  /// Reads rows of a table; see `DocumentStorage`.
  public func read(
    _ table: String, after position: TablePosition?
  ) async throws(DocumentError) -> StoredRows {
    let found = state.withLock { $0.tables[ByteString(table)] }
    return (found ?? MemoryTable()).read(after: position)
  }

  /// Changes rows of a table; see `DocumentStorage`.
  public func update(
    _ table: String, reading ids: [String], once operation: String?,
    _ change:
      @escaping @Sendable (_ rows: [StoredRow?], _ next: TablePosition) throws(DocumentError) ->
      [StoredChange]
  ) async throws(DocumentError) -> TablePosition {
    if Task.isCancelled { throw DocumentError(.cancelled, "the work was cancelled") }
    let name = ByteString(table)
    return try state.withLock { state throws(DocumentError) in
      let operation = operation.map(ByteString.init)
      if let operation, let position = state.operations[operation] { return position }
      let table = state.tables[name] ?? MemoryTable()
      let changes = try change(ids.map { table.rows[ByteString($0)]?.row }, table.position + 1)
        .filter { change in
          if case .removed(let id) = change { table.rows[ByteString(id)] != nil } else { true }
        }
      let position = table.position + changes.count
      if !changes.isEmpty {
        try limits.check(changes, of: name.string)
        let size = table.size(after: changes)
        let bytes = state.bytes + size.bytes - table.size.bytes
        let tables = state.tables.count
        try limits.check(
          table: size, from: table.size,
          storage: StoredSize(count: tables + (table.position == 0 ? 1 : 0), bytes: bytes),
          from: StoredSize(count: tables, bytes: state.bytes))
        state.bytes = bytes
        state.apply(changes, to: name, keeping: removals)
      }
      if let operation { state.remember(operation, position) }
      // While the lock is held, so that notices are in the order of the changes.
      listeners.notify(name.string, TableNotice(position: position, changes: changes))
      return position
    }
  }

  /// Returns notices of changes; see `DocumentStorage`.
  public func notices(of table: String) -> AsyncStream<TableNotice> {
    listeners.notices(of: table)
  }

  /// Ends the notices of all tables.
  public func close() { listeners.close() }
}
