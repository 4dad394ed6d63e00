// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
internal import Foundation
internal import Sessions

/// The embedded database of a data folder: an SQLite file that several processes may share.
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
/// - Durability: a commit survives the end of the process at any moment. A power cut may take back
///   the last commits, unless `power` was asked for; it damages nothing.
/// - Order: the changes of one list have one order, the same for all stores of all processes.
public final class EmbeddedDatabase: Sendable {
  /// How often `run()` looks for changes by other processes.
  public static let pollInterval = Duration.milliseconds(250)

  let sharedPool: SharedPool
  let listeners: ListListeners
  let line = OperationLine()
  let makeID: @Sendable () -> String
  let logLength: Int
  let todoLimits: TodoLimits
  let failed: @Sendable (String) -> Void
  let calendar: any StoreClock
  private let clock: any Clock<Duration>

  /// A database that is opened when it is first needed; this touches no file.
  ///
  /// - Parameters:
  ///   - folder: Where the file is or is to be; made for its owner alone (0700) if need be.
  ///   - durability: What commits of this process outlive.
  ///   - clock: The time between two looks of `run()`.
  ///   - calendar: The time that entries of the ledger are dated with.
  ///   - busyTimeout: How long to wait for another process that is writing.
  ///   - logLength: How many of a list's latest changes are kept at least. Whoever is further
  ///     behind gets the whole list.
  ///   - todoLimits: How large a list may be, and all of them together.
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
    makeID: @escaping @Sendable () -> String = EmbeddedDatabase.randomID,
    busy: (@Sendable () -> @Sendable () -> Void)? = nil,
    failed: @escaping @Sendable (String) -> Void
  ) {
    precondition(logLength > 0, "the log holds at least the latest change")
    sharedPool = SharedPool(
      DatabaseFile(folder: folder, busyTimeout: busyTimeout, durability: durability) { error in
        failed(error.message)
      },
      entered: busy)
    self.clock = clock
    self.calendar = calendar
    self.logLength = logLength
    self.todoLimits = todoLimits
    listeners = ListListeners(logLength: logLength)
    self.makeID = makeID
    self.failed = failed
  }

  /// Tells the operator of a failure, unless a cancellation has caused it, or a missing file, of which the operator
  /// has been told.
  ///
  /// - Parameter what: What the failure has prevented, as a clause; nil: nothing that was asked for.
  func tell(_ error: PersistenceError, _ what: String? = nil) {
    guard error.code != .cancelled, error.code != .fileMissing else { return }
    failed(what.map { "\($0): \(error.message)" } ?? error.message)
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
    let digits = Array(
      (high & ~0xF000 | 0x4000).hexadecimal + (low & ~(3 << 62) | 2 << 62).hexadecimal)
    let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
    return groups.joined(separator: "-")
  }

  /// Opens the database now, for those who want to know early whether it can be.
  ///
  /// - Throws: One sentence that says what is wrong. The next use tries again.
  public func open() async throws(PersistenceError) {
    try await sharedPool.use { _ in }
  }

  /// Closes the database: work in hand is finished, feeds end, later calls fail with `closed`.
  ///
  /// Closing twice is no error.
  public func close() async {
    listeners.close()
    do {
      try await sharedPool.close()
    } catch {
      failed(error.message)
    }
  }

  /// The repository of one store.
  ///
  /// All repositories of a name show one list, in all processes. Each store takes its own, since
  /// the answer to an operation waits for that store's feed.
  ///
  /// - Parameter list: Any text, compared by its bytes. An unknown list is empty; the first todo
  ///   makes it.
  public func todoRepository(list: String) -> SQLiteTodoRepository {
    SQLiteTodoRepository(database: self, list: list)
  }

  /// Looks for changes by other processes until cancelled or closed, while somebody listens.
  ///
  /// Without it they are noticed when this process next has to do with their list. One at a time.
  public func run() async {
    var watch = ForeignChanges(sharedPool: sharedPool, listeners: listeners)
    var hadFailed = false
    for await _ in listeners.beginnings() {
      while listeners.areThere {
        do {
          try await clock.sleep(for: Self.pollInterval)
        } catch {
          return
        }
        do throws(PersistenceError) {
          try await watch.look()
          hadFailed = false
        } catch {
          // A failure that lasts is told once; the next look may succeed.
          if !hadFailed, error.code != .closed { tell(error) }
          hadFailed = true
        }
      }
    }
  }
}
