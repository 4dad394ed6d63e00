// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import SQLiteFiles
public import StoredTodoLists

/// The todo lists in a database file that several processes may share.
///
/// `TodoListStorage` describes how an operation reaches all feeds. `run()` polls for operations of other
/// processes every 250 ms.
///
/// - Order: the changes of one list have the same order for all stores of all processes.
public final class TodoDatabase: TodoLists {
  let file: SharedDatabase
  /// The listeners of this process.
  public let listeners: ListListeners
  /// The order of the operations of this process.
  public let line = OperationLine()
  let makeID: @Sendable () -> String
  let logLength: Int
  /// The maximum size of one list, and of all lists together.
  public let limits: TodoLimits
  private let clock: any Clock<Duration>

  /// Creates the lists of a file, which the first use opens.
  ///
  /// - Parameters:
  ///   - file: A file that has `schema`.
  ///   - clock: The clock that measures the interval between two polls of `run()`.
  ///   - logLength: The minimum number of changes that the change log of a list keeps. A store that
  ///     misses more changes receives the whole list.
  ///   - limits: The maximum size of one list, and of all lists together.
  ///   - makeID: Creates the ids of todos; by default random UUIDs in lower case.
  /// - Precondition: `logLength` is positive.
  public init(
    in file: SharedDatabase,
    clock: any Clock<Duration> = ContinuousClock(),
    logLength: Int = 1000,
    limits: TodoLimits = TodoLimits(),
    makeID: @escaping @Sendable () -> String = RandomUUID.text
  ) {
    precondition(logLength > 0, "logLength must be at least 1")
    self.file = file
    self.clock = clock
    self.logLength = logLength
    self.limits = limits
    listeners = ListListeners(logLength: logLength)
    self.makeID = makeID
  }

  /// Returns the repository of one store; see `TodoLists`. All processes share the lists.
  public func repository(list: String) -> StoredTodoRepository {
    StoredTodoRepository(self, list: list)
  }

  /// Ends the feeds of all stores and `run()` permanently; call it before the file is closed.
  public func endFeeds() { listeners.close() }

  /// Polls for changes that other processes make to the lists, while a store shows a list, until
  /// the task is cancelled or the feeds end.
  ///
  /// Without it, a store receives such changes only when this process next uses the same list. Only
  /// one call may run at a time.
  public func run() async {
    let listeners = listeners
    await ExternalCommits.watch(
      file, clock: clock, additions: listeners.additions(), while: { listeners.hasListeners },
      notify: { db in
        for list in listeners.lists {
          guard let version = try StoredList(named: list.string, in: db)?.version else { continue }
          listeners.notify(list, ListNotification(version: version))
        }
      })
  }
}
