// SPDX-License-Identifier: Apache-2.0

internal import Documents
internal import PostgresConnections
internal import StateMachines

/// The changes of several updates of a table, computed from the state of the table.
struct UpdateBatch {
  /// The position of each update, or the reason why it changes nothing.
  private(set) var results: [Result<TablePosition, any Error>] = []
  /// The ids of changed rows of which the state has nothing: it has to be read again with them.
  private(set) var missing: [String] = []
  /// The changes of all updates, in order.
  private(set) var changes: [StoredChange] = []

  private let start: TablePosition
  private let before: (table: StoredSize, storage: StoredSize)
  private var after: (table: StoredSize, storage: StoredSize)
  /// The rows that were read or changed; nil for one that does not exist.
  private var rows: [ByteString: StoredRow?] = [:]
  private let followingNumbers: ClosedRange<Int64>
  private var operations: (ids: [String], positions: [TablePosition]) = ([], [])

  /// Returns the ids of rows that an update may add at the next positions (`Table.append`), which
  /// are read with the others.
  static func followingCount(of updates: [TableUpdate]) -> Int { 2 * updates.count }

  /// Calls the closures of the updates.
  ///
  /// - Parameters:
  ///   - updates: The updates.
  ///   - table: The name of the table.
  ///   - ids: The ids of the rows that were read.
  ///   - state: The result of `statewire.document_state` for these ids.
  ///   - limits: The largest tables.
  init(
    _ updates: [TableUpdate], of table: String, reading ids: [String], _ state: PostgresRows,
    _ limits: DocumentLimits
  ) {
    start = TablePosition(rawValue: state.integer(0, 2) ?? 0)
    func size(_ column: Int) -> StoredSize {
      StoredSize(
        count: Int(state.integer(0, column) ?? 0), bytes: Int(state.integer(0, column + 1) ?? 0))
    }
    before = (size(3), size(5))
    after = before
    followingNumbers =
      start.rawValue + 1...start.rawValue + Int64(Self.followingCount(of: updates))
    for id in ids { rows[ByteString(id)] = .some(nil) }
    var performed: [Int: TablePosition] = [:]
    for line in 1..<state.count {
      let number = state.integer(line, 2) ?? 0
      if state.text(line, 0) == "operation" {
        performed[Int(state.integer(line, 1) ?? 0) - 1] = TablePosition(rawValue: number)
      } else if let id = state.text(line, 7), let value = state.bytes(line, 8) {
        rows[ByteString(id)] = StoredRow(id: id, version: Int(number), value: value)
      }
    }
    for (index, update) in updates.enumerated() {
      if let position = performed[index] {
        results.append(.success(position))
        continue
      }
      do {
        let old = update.ids.map { row($0) ?? nil }
        try add(try update.change(old, position + 1), to: table, limits)
        results.append(.success(position))
        if update.isRepeatable || !changes.isEmpty {
          operations.ids.append(update.operation)
          operations.positions.append(position)
        }
      } catch {
        results.append(.failure(error))
      }
    }
  }

  private var position: TablePosition { start + changes.count }

  /// True if the changes are already those in the database.
  var writesNothing: Bool { changes.isEmpty && operations.ids.isEmpty }

  /// The notice for the listeners of the table.
  var notice: TableNotice { TableNotice(position: position, changes: changes) }

  /// Returns a row; nil if it is unknown whether it exists.
  private func row(_ id: String) -> StoredRow?? {
    if let row = rows[ByteString(id)] { return .some(row) }
    if let number = Int64(id), followingNumbers.contains(number), String(number) == id {
      return .some(nil)
    }
    return nil
  }

  /// Adds the changes of one update, or none of them.
  private mutating func add(
    _ new: [StoredChange], to table: String, _ limits: DocumentLimits
  ) throws(DocumentError) {
    if new.isEmpty { return }
    try limits.check(new, of: table)
    let putsRow = new.contains { if case .put = $0 { true } else { false } }
    let isNew = before.table == StoredSize() && start == 0 && changes.isEmpty
    if isNew, !putsRow { return }
    let (oldRows, oldCount, old) = (rows, changes.count, after)
    if isNew { after.storage.count += 1 }
    for change in new {
      let (id, row): (String, StoredRow?) =
        switch change {
        case .put(let row): (row.id, row)
        case .removed(let id): (id, nil)
        }
      guard let found = self.row(id) else {
        missing.append(id)
        continue
      }
      guard found != nil || row != nil else { continue }
      let growth = (row?.size ?? 0) - (found?.size ?? 0)
      after.table.count += (row == nil ? 0 : 1) - (found == nil ? 0 : 1)
      after.table.bytes += growth
      after.storage.bytes += growth
      rows[ByteString(id)] = .some(row)
      changes.append(change)
    }
    if changes.count == oldCount {
      after = old
      return
    }
    do {
      try limits.check(
        table: after.table, from: old.table, storage: after.storage, from: old.storage)
    } catch {
      (rows, after) = (oldRows, old)
      changes.removeSubrange(oldCount...)
      throw error
    }
  }

  /// Returns the parameters of `statewire.document_write`.
  func parameters(_ table: String, _ options: PostgresStorage.Options) -> [PostgresParameter] {
    var (ids, versions, values) = ([[UInt8]](), [Int64?](), [[UInt8]?]())
    for change in changes {
      switch change {
      case .put(let row):
        ids.append(Array(row.id.utf8))
        versions.append(Int64(row.version))
        values.append(row.value)
      case .removed(let id):
        ids.append(Array(id.utf8))
        versions.append(nil)
        values.append(nil)
      }
    }
    let limits = options.documentLimits
    return [
      .text(table), .integer(start.rawValue), .byteArrays(ids), .integers(versions),
      .byteArrays(values), .byteArrays(operations.ids.map { Array($0.utf8) }),
      .integers(operations.positions.map(\.rawValue)),
      .integer(Int64(after.table.count - before.table.count)),
      .integer(Int64(after.table.bytes - before.table.bytes)),
      .integer(Int64(after.storage.count - before.storage.count)),
      .integer(Int64(limits.tables)), .integer(Int64(limits.bytes)),
      .integer(Int64(options.removals)),
    ]
  }
}
