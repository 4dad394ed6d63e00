// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import SQLiteFiles
public import SQLiteLedger
public import SQLiteTodoDatabase
public import StoredTodoLists

/// The embedded database of a data folder: the todo lists and the ledger in one SQLite file,
/// `statewire.sqlite`, which several processes may share.
///
/// - Durability: a commit survives the end of the process at any moment. A power cut may undo the
///   last commits unless the durability is `power`; it never damages the file.
public final class EmbeddedDatabase: Sendable {
  /// The todo lists; a `TodoLists` for the built-in store kinds.
  public let todoLists: TodoDatabase
  /// The ledger; a `BalanceService` for the built-in store kinds.
  public let ledger: Ledger
  private let file: SharedDatabase

  static let fileName = "statewire.sqlite"

  /// Creates the object without accessing a file; the first use opens the database.
  ///
  /// - Parameters:
  ///   - folder: The folder of the file; created with mode 0700 if it does not exist.
  ///   - durability: The failures that commits of this process survive.
  ///   - clock: The clock that measures the interval between two polls of `run()`.
  ///   - calendar: The clock that dates new ledger entries.
  ///   - busyTimeout: How long to wait while another process writes.
  ///   - logLength: The minimum number of changes that the change log of a list keeps. A store that
  ///     misses more changes receives the whole list.
  ///   - todoLimits: The maximum size of one list, and of all lists together.
  ///   - firstEntry: An entry that is posted when the database is opened and the ledger has no
  ///     entries; for tests.
  ///   - makeID: Creates the ids of todos; by default random UUIDs in lower case.
  ///   - busy: Called when a use of the file begins; the returned function is called when the use
  ///     ends. For tests that wait until no work is pending.
  ///   - failed: Receives one sentence for each failure, on any thread. The sentence never contains
  ///     stored data.
  public init(
    folder: String,
    durability: Durability = .process,
    clock: any Clock<Duration> = ContinuousClock(),
    calendar: any StoreClock = SystemClock(),
    busyTimeout: Duration = .seconds(5),
    logLength: Int = 1000,
    todoLimits: TodoLimits = TodoLimits(),
    firstEntry: BalanceResponse? = nil,
    makeID: @escaping @Sendable () -> String = RandomUUID.text,
    busy: (@Sendable () -> @Sendable () -> Void)? = nil,
    failed: @escaping @Sendable (String) -> Void
  ) {
    file = SharedDatabase(
      folder: folder, name: Self.fileName, schemas: [TodoDatabase.schema, Ledger.schema],
      durability: durability, busyTimeout: busyTimeout,
      prepare: firstEntry.map(Ledger.posting), busy: busy, failed: failed)
    todoLists = TodoDatabase(
      in: file, clock: clock, logLength: logLength, limits: todoLimits, makeID: makeID)
    ledger = Ledger(in: file, calendar: calendar)
  }

  /// Opens the file immediately, for a program that checks at its start whether the file can be
  /// opened.
  ///
  /// - Throws: The reason, as one sentence. The next use tries again.
  public func open() async throws(StorageError) { try await file.open() }

  /// Closes the file: finishes uses in progress and ends the feeds; later calls fail with `closed`.
  ///
  /// Closing twice is not an error.
  public func close() async {
    todoLists.endFeeds()
    await file.close()
  }

  /// Polls for changes that other processes make to the lists, while a store shows a list, until
  /// the task is cancelled or the database is closed.
  ///
  /// Without it, a store receives such changes only when this process next uses the same list. Only
  /// one call may run at a time.
  public func run() async { await todoLists.run() }
}
