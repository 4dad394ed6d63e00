// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import SQLiteFiles

/// The todo lists in a database file that several processes may share.
///
/// The parts of this module:
///
///     operation -> one transaction: list, version + 1, change log
///                        | after the commit, on the writer's queue
///                        v
///     ListListeners -> TodoFeed of each store that shows the list -> `context.send`
///                        ^
///                        | "there is a newer version", from another process
///     run(), every 250 ms
///
/// Every change of a list has a version, one more than the previous change. A feed knows the last
/// version that it has sent. It sends the next version, drops an older one, and after a gap reads
/// the change log, or the list if the log is too short. Therefore the order is correct even if
/// notifications are late, repeated, out of order or lost.
///
/// - Order: the changes of one list have the same order for all stores of all processes.
public final class TodoDatabase: TodoLists {
  let file: SharedDatabase
  let listeners: ListListeners
  let line = OperationLine()
  let makeID: @Sendable () -> String
  let logLength: Int
  let limits: TodoLimits
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
    makeID: @escaping @Sendable () -> String = TodoDatabase.randomID
  ) {
    precondition(logLength > 0, "logLength must be at least 1")
    self.file = file
    self.clock = clock
    self.logLength = logLength
    self.limits = limits
    listeners = ListListeners(logLength: logLength)
    self.makeID = makeID
  }

  /// Returns a random UUID in lower case.
  @Sendable
  public static func randomID() -> String {
    // Foundation's UUID reads a file, and always returns the same value if no descriptor is left.
    var numbers = SystemRandomNumberGenerator()
    return randomID(of: &numbers)
  }

  /// Returns a UUID of version 4 in lower case.
  ///
  /// - Source: RFC 9562 §5.4.
  public static func randomID(of numbers: inout some RandomNumberGenerator) -> String {
    let (high, low) = (numbers.next(), numbers.next())
    let halves = [high & ~0xF000 | 0x4000, low & ~(3 << 62) | 2 << 62]
    let digits = halves.flatMap { half in
      let text = String(half, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
    return groups.joined(separator: "-")
  }

  /// Returns the repository of one store; see `TodoLists`. All processes share the lists.
  public func repository(list: String) -> SQLiteTodoRepository {
    SQLiteTodoRepository(database: self, list: list)
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
    await ForeignCommits.watch(
      file, clock: clock, additions: listeners.additions(), while: { listeners.hasListeners },
      notify: { db in
        for list in listeners.lists {
          guard let version = try StoredList(named: list.string, in: db)?.version else { continue }
          listeners.notify(list, ListNotification(version: version))
        }
      })
  }
}
