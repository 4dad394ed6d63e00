// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import SQLiteFiles

/// The todo lists in a database file that several processes may share.
///
/// How the parts of this module fit together:
///
///     operation -> one transaction: list, version + 1, log of changes
///                        | after the commit, on the writer's queue
///                        v
///     ListListeners -> TodoFeed of each store that shows the list -> `context.send`
///                        ^
///                        | "there is a newer version", from another process
///     run(), every 250 ms
///
/// Every change of a list has a version, one more than the change before it. A feed knows the
/// version it has given; what it hears of is delivered if it is the next one, dropped if it is
/// older, and otherwise read from the log, or from the list where the log is too short. So the
/// news themselves may be late, doubled, out of order or lost, and order still holds.
///
/// - Order: the changes of one list have one order, the same for all stores of all processes.
public final class TodoDatabase: TodoLists {
  /// How often `run()` looks for changes by other processes.
  static let pollInterval = Duration.milliseconds(250)

  let file: SharedDatabase
  let listeners: ListListeners
  let line = OperationLine()
  let makeID: @Sendable () -> String
  let logLength: Int
  let limits: TodoLimits
  private let clock: any Clock<Duration>

  /// The lists in a file, which is opened when one is first needed.
  ///
  /// - Parameters:
  ///   - file: One that has `schema`.
  ///   - clock: The time between two looks of `run()`.
  ///   - logLength: How many of a list's latest changes are kept at least. A store that is further behind gets the whole
  ///     list.
  ///   - limits: How large a list may be, and all of them together.
  ///   - makeID: Makes the ids of todos; by default random UUIDs in lower case.
  public init(
    in file: SharedDatabase,
    clock: any Clock<Duration> = ContinuousClock(),
    logLength: Int = 1000,
    limits: TodoLimits = TodoLimits(),
    makeID: @escaping @Sendable () -> String = TodoDatabase.randomID
  ) {
    precondition(logLength > 0, "the log holds at least the latest change")
    self.file = file
    self.clock = clock
    self.logLength = logLength
    self.limits = limits
    listeners = ListListeners(logLength: logLength)
    self.makeID = makeID
  }

  /// A random UUID in lower case.
  @Sendable
  public static func randomID() -> String {
    // Foundation's reads a file, and is the same for all where no descriptor is left to open that.
    var numbers = SystemRandomNumberGenerator()
    return randomID(of: &numbers)
  }

  /// A UUID of version 4, in lower case.
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

  /// The repository of one store; see `TodoLists`. All processes show the same lists.
  public func repository(list: String) -> SQLiteTodoRepository {
    SQLiteTodoRepository(database: self, list: list)
  }

  /// Ends the feeds of all stores, and `run()`, for good; before the file is closed.
  public func endFeeds() { listeners.close() }

  /// Looks for changes by other processes until cancelled or until feeds end, while a store shows a list.
  ///
  /// Without it they are noticed when this process next has to do with their list. One at a time.
  public func run() async {
    var watch = ForeignChanges(file: file, listeners: listeners)
    var hadFailed = false
    for await _ in listeners.beginnings() {
      while listeners.areThere {
        do {
          try await clock.sleep(for: Self.pollInterval)
        } catch {
          return
        }
        do throws(StorageError) {
          try await watch.look()
          hadFailed = false
        } catch {
          // A failure that lasts is told once; the next look may succeed.
          if !hadFailed, error.code != .closed { file.report(error) }
          hadFailed = true
        }
      }
    }
  }
}
