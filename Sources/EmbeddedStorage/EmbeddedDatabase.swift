// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import SQLiteFiles
public import SQLiteLedger
public import SQLiteTodoDatabase

/// The embedded database of a data folder: the todo lists and the ledger in one SQLite file, `statewire.sqlite`, that
/// several processes may share.
///
/// - Durability: a commit survives the end of the process at any moment. A power cut may take back
///   the last commits, unless `power` was asked for; it damages nothing.
public final class EmbeddedDatabase: Sendable {
  /// Has the lists; also a `TodoLists` for the built-in kinds.
  public let todoLists: TodoDatabase
  /// Has the amounts; also a `BalanceService` for the built-in kinds.
  public let ledger: Ledger
  private let file: SharedDatabase

  static let fileName = "statewire.sqlite"

  /// A database that is opened when it is first needed; this touches no file.
  ///
  /// - Parameters:
  ///   - folder: Where the file is or is to be; made for its owner alone (0700) if need be.
  ///   - durability: What commits of this process outlive.
  ///   - clock: The time between two looks of `run()`.
  ///   - calendar: The time that entries of the ledger are dated with.
  ///   - busyTimeout: How long to wait for another process that is writing.
  ///   - logLength: How many of a list's latest changes are kept at least. A store that is further behind gets the whole
  ///     list.
  ///   - todoLimits: How large a list may be, and all of them together.
  ///   - firstEntry: Posted to the ledger when the database is opened and the ledger is empty; for tests.
  ///   - makeID: Makes the ids of todos; by default random UUIDs in lower case.
  ///   - busy: Called when a use of the file begins, and what it returns when that ends; for tests
  ///     that wait until all is done.
  ///   - failed: Takes a sentence about each failure, on any thread. Never what is stored.
  public init(
    folder: String,
    durability: Durability = .process,
    clock: any Clock<Duration> = ContinuousClock(),
    calendar: any StoreClock = SystemClock(),
    busyTimeout: Duration = .seconds(5),
    logLength: Int = 1000,
    todoLimits: TodoLimits = TodoLimits(),
    firstEntry: BalanceResponse? = nil,
    makeID: @escaping @Sendable () -> String = TodoDatabase.randomID,
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

  /// Opens the file now, for a program that wants to know early whether it can be opened.
  ///
  /// - Throws: One sentence that says what is wrong. The next use tries again.
  public func open() async throws(StorageError) { try await file.open() }

  /// Closes the file: work in hand is finished, feeds end, later calls fail with `closed`.
  ///
  /// It is not an error to close it twice.
  public func close() async {
    todoLists.endFeeds()
    await file.close()
  }

  /// Looks for changes of lists by other processes until cancelled or closed, while a store shows a list.
  ///
  /// Without it they are noticed when this process next has to do with their list. One at a time.
  public func run() async { await todoLists.run() }
}
