// SPDX-License-Identifier: Apache-2.0

public import Documents
internal import GRDB
public import SQLiteFiles

/// Storage for tables and documents in a file of a data folder, `documents.sqlite`, which several
/// processes may share.
///
/// - Order: one transaction after another writes. The notices of this process come in the order of
///   the commits; `run()` finds the commits of other processes.
/// - Durability: a commit survives the end of the process at any moment. A power cut may undo the
///   last commits unless the durability is `power`; it never damages the file.
public final class SQLiteDocumentStorage: DocumentStorage {
  static let fileName = "documents.sqlite"

  /// The number of writes whose ids are kept. It exceeds the number of writes in progress of all
  /// restored sessions, unless thousands of sessions have several each.
  static let rememberedOperations: Int64 = 10_000

  let file: SharedDatabase
  private let listeners = TableListeners()
  private let clock: any Clock<Duration>
  private let limits: DocumentLimits
  private let removals: Int

  /// Creates the object without accessing a file; the first use opens the file.
  ///
  /// - Parameters:
  ///   - folder: The folder of the file; created with mode 0700 if it does not exist.
  ///   - durability: The failures that commits of this process survive.
  ///   - clock: The clock that measures the interval between two polls of `run()`.
  ///   - busyTimeout: How long to wait while another process writes.
  ///   - limits: The largest tables.
  ///   - removals: The minimum number of removed rows of a table that are known. A watch that misses
  ///     more receives all rows.
  ///   - busy: Called when a use of the file begins; the returned function is called when the use
  ///     ends. For tests that wait until no work is pending.
  ///   - failed: Receives one sentence for each failure, on any thread. The sentence never contains
  ///     stored data.
  public init(
    folder: String, durability: Durability = .process,
    clock: any Clock<Duration> = ContinuousClock(), busyTimeout: Duration = .seconds(5),
    limits: DocumentLimits = DocumentLimits(), removals: Int = 1000,
    busy: (@Sendable () -> @Sendable () -> Void)? = nil,
    failed: @escaping @Sendable (String) -> Void
  ) {
    file = SharedDatabase(
      folder: folder, name: Self.fileName, schemas: [DocumentSchema.schema],
      durability: durability, busyTimeout: busyTimeout, busy: busy, failed: failed)
    (self.clock, self.limits, self.removals) = (clock, limits, removals)
  }

  /// Opens the file immediately, for a program that checks at its start whether the file can be
  /// opened.
  ///
  /// - Throws: The reason, as one sentence. The next use tries again.
  public func open() async throws(StorageError) { try await file.open() }

  /// Finishes uses in progress, ends the notices and closes the file; later calls fail.
  ///
  /// Closing twice is not an error.
  public func close() async {
    listeners.close()
    await file.close()
  }

  /// Polls for changes by other processes, while there are watches, until the task is cancelled or
  /// the storage is closed.
  ///
  /// Without it, a watch receives such changes only when this process next changes the same table.
  /// Only one call may run at a time.
  public func run() async {
    let listeners = listeners
    await ExternalCommits.watch(
      file, clock: clock, additions: listeners.additions(), while: { !listeners.isEmpty },
      notify: { db in
        for table in listeners.tables {
          let position = try DatabaseTable(named: table, in: db).position
          listeners.notify(table, TableNotice(position: position))
        }
      })
  }

  /// Reads rows of a table; see `DocumentStorage`.
  public func read(
    _ table: String, after position: TablePosition?
  ) async throws(DocumentError) -> StoredRows {
    do throws(StorageError) {
      return try await file.use { open in
        try await open.read { db in
          try DatabaseTable(named: table, in: db).read(after: position)
        }
      }
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
    let result: Result<TablePosition, DocumentError>
    do throws(StorageError) {
      result = try await file.use { [listeners, limits, removals] open in
        try await open.onWriter { [files = open.files] db in
          let notice: TableNotice
          do {
            notice = try db.write(checking: files) {
              try db.update(
                table, reading: ids, once: operation, limits: limits, keeping: removals, change)
            }
          } catch let error as DocumentError {
            return .failure(error)
          }
          // Still on the writer's queue, so that the notices of this process are in commit order.
          // They are also sent if nothing changed: the position may come from another process.
          listeners.notify(table, notice)
          return .success(notice.position)
        }
      }
    } catch {
      throw failure(error, "A table of a store could not be changed")
    }
    return try result.get()
  }

  /// Returns notices of changes; see `DocumentStorage`.
  public func notices(of table: String) -> AsyncStream<TableNotice> {
    listeners.notices(of: table)
  }

  /// Reports a failure to the operator, and returns the error for the store.
  private func failure(_ error: StorageError, _ what: String) -> DocumentError {
    file.report(error, what)
    return switch error.code {
    case .cancelled: DocumentError(.cancelled, "the work was cancelled")
    case .full: DocumentError(.full, "the disk of the storage is full")
    case .notWritable: DocumentError(.readOnly, "the storage cannot be written")
    case .folderMissing, .notSafe, .fileMissing, .notADatabase, .newerVersion, .locked, .closed,
      .failed:
      DocumentError(.unavailable, "the storage cannot be used now")
    }
  }
}

extension GRDB.Database {
  /// Carries out a write, unless one with its id was carried out before.
  fileprivate func update(
    _ name: String, reading ids: [String], once operation: String?, limits: DocumentLimits,
    keeping removals: Int,
    _ change: ([StoredRow?], TablePosition) throws(DocumentError) -> [StoredChange]
  ) throws -> TableNotice {
    if let operation, let position = try number(.remembered, [operation.blob]) {
      return TableNotice(position: TablePosition(rawValue: position))
    }
    let table = try DatabaseTable(named: name, in: self)
    let changes = try change(try ids.map { try table.row($0) }, table.position + 1)
    let carriedOut =
      changes.isEmpty ? [] : try table.apply(changes, limits: limits, keeping: removals)
    let position = table.position + carriedOut.count
    if let operation {
      try run(.remember, [operation.blob, position.rawValue])
      try run(.forget, [lastInsertedRowID - SQLiteDocumentStorage.rememberedOperations])
    }
    return TableNotice(position: position, changes: carriedOut)
  }
}
