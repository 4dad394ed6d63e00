// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import Documents
public import PostgresConnections
public import StoredTodoLists

/// The data that all nodes of a database share: todo lists, documents and the ledger.
///
///     TodoLists, DocumentStorage, BalanceService     what stores use
///       -> OrderedWrites                             one connection; transactions are pipelined
///       -> SharedReads                               stores that read the same wait for one read
///       -> ChangeFeed                                changes of other nodes, for the listeners here
///
/// - Order: of the changes of a list or a table, that of their versions: a change holds the lock of
///   its list until its commit, so that no reader sees a version before an earlier one.
/// - Exactly once: each write has an id, which the database keeps with it. A write whose outcome is
///   unknown, because the connection was lost, is repeated under its id.
/// - Failure: a write that cannot be sent within the patience fails. Feeds and watches continue when
///   the database responds again.
public final class PostgresStorage: Sendable {
  /// The limits of the storage.
  public struct Options: Sendable {
    /// The time for which reads and writes wait for a database that cannot be reached.
    public var patience = Duration.seconds(20)
    /// The time after which the database cancels a statement.
    public var statementTimeout = Duration.seconds(10)
    /// The minimum number of changes that the change log of a list keeps. A store that misses more
    /// changes receives the whole list.
    public var logLength = 1000
    /// The minimum number of removed rows of a table that are known. A watch that misses more
    /// receives all rows.
    public var removals = 1000
    /// The maximum size of one list, and of all lists together.
    public var todoLimits = TodoLimits()
    /// The largest tables.
    public var documentLimits = DocumentLimits()
    /// The number of writes whose ids are kept at least; others are kept for 10 minutes.
    public var rememberedOperations = 100_000

    /// Creates the default limits.
    public init() {}
  }

  /// The todo lists in the database, shared by all nodes. Calls fail after `close()`.
  public let todoLists: PostgresTodoLists
  /// The tables and documents in the database, shared by all nodes. Calls fail after `close()`.
  public let documents: PostgresDocumentStorage
  /// The account ledger in the database, shared by all nodes. Calls fail after `close()`.
  public let ledger: PostgresLedger

  private let writes: OrderedWrites
  private let changes: ChangeFeed

  /// Creates the storage of a database, whose tables exist (`PostgresNode`, `NodeTable`).
  ///
  /// - Parameters:
  ///   - database: The address of the database.
  ///   - name: The name of the node, for the list of the connections of the database.
  ///   - options: The limits.
  ///   - clock: The clock that measures the interval between two polls of `run()`.
  ///   - calendar: The clock that dates new ledger entries.
  ///   - makeID: Creates the ids of todos; by default random UUIDs in lower case.
  ///   - failed: Receives one sentence for each incident, on any thread. The sentence never contains
  ///     stored data.
  public init(
    _ database: PostgresAddress, name: String, options: Options = Options(),
    clock: any Clock<Duration> = ContinuousClock(), calendar: any StoreClock = SystemClock(),
    makeID: @escaping @Sendable () -> String = RandomUUID.text,
    failed: @escaping @Sendable (String) -> Void
  ) {
    let incidents = Incidents(failed)
    let application = "statewire \(name)"
    writes = OrderedWrites(database, application: application, options)
    changes = ChangeFeed(database, application: application, options, clock: clock)
    let parts = StorageParts(
      writes: writes, changes: changes, incidents: incidents, options: options)
    todoLists = PostgresTodoLists(parts, makeID: makeID)
    documents = PostgresDocumentStorage(parts)
    ledger = PostgresLedger(parts, calendar: calendar)
    changes.add([todoLists, documents])
  }

  /// Polls for changes of other nodes while a store shows a list or watches a table, until the task is
  /// cancelled or the storage is closed. Changes are also announced, so this is needed only for those
  /// whose announcement was lost.
  ///
  /// Only one call may run at a time.
  public func run() async { await changes.run() }

  /// Ends feeds and watches, and the connections; blocks until their threads have ended. Later calls
  /// fail.
  public func close() {
    todoLists.listeners.close()
    documents.listeners.close()
    changes.close()
    writes.close()
  }
}

/// The objects that the parts of the storage share.
struct StorageParts: Sendable {
  let writes: OrderedWrites
  let changes: ChangeFeed
  let incidents: Incidents
  let options: PostgresStorage.Options
}
