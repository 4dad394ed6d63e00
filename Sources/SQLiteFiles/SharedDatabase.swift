// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
public import GRDB

/// A database file that several parts of a program share.
///
/// The first use opens it. `close()` waits for the uses in progress, so that no connection closes
/// during a query.
public final class SharedDatabase: Sendable {
  private let file: DatabaseFile
  private let lock = NSLock()
  // because each access holds `lock`.
  private nonisolated(unsafe) var state = State()
  /// Runs opening and closing, which block a thread, one at a time.
  private let queue = DispatchQueue(label: "statewire.database")

  /// Called when a use begins; the returned function is called when the use ends.
  private let busy: (@Sendable () -> @Sendable () -> Void)?
  private let failed: @Sendable (String) -> Void

  /// Creates the object without accessing a file; the first use opens the file.
  ///
  /// - Parameters:
  ///   - folder: The folder of the file; created with mode 0700 if it does not exist.
  ///   - name: The name of the file in it.
  ///   - schemas: The schemas of all parts of the file, including parts that this program does not
  ///     use.
  ///   - durability: The failures that commits of this process survive.
  ///   - busyTimeout: How long to wait while another process writes.
  ///   - prepare: Called with the file after each opening, before the first use.
  ///   - busy: Called when a use of the file begins; the returned function is called when the use
  ///     ends. For tests that wait until no work is pending.
  ///   - failed: Receives one sentence for each failure, on any thread. The sentence never contains
  ///     stored data.
  public init(
    folder: String, name: String, schemas: [Schema], durability: Durability = .process,
    busyTimeout: Duration = .seconds(5),
    prepare: (@Sendable (Database) throws -> Void)? = nil,
    busy: (@Sendable () -> @Sendable () -> Void)? = nil,
    failed: @escaping @Sendable (String) -> Void
  ) {
    file = DatabaseFile(
      folder: folder, name: name, schemas: schemas, busyTimeout: busyTimeout,
      durability: durability, prepare: prepare
    ) { error in failed(error.message) }
    self.busy = busy
    self.failed = failed
  }

  /// Reports a failure to the operator, except a cancellation, and except a missing file, which has
  /// been reported already.
  ///
  /// - Parameter what: The operation that failed, as a clause; nil if no client requested it.
  package func report(_ error: StorageError, _ what: String? = nil) {
    guard error.code != .cancelled, error.code != .fileMissing else { return }
    failed(what.map { "\($0): \(error.message)" } ?? error.message)
  }

  /// Opens the file immediately, for a program that checks at its start whether the file can be
  /// opened.
  ///
  /// - Throws: The reason, as one sentence. The next use tries again.
  public func open() async throws(StorageError) {
    try await use { _ in }
  }

  /// Calls `body` with the connections; opens the file first if it is not open.
  ///
  /// After a failed opening the next call tries again.
  ///
  /// - Throws: `closed` after `close()`; the reason if opening fails; errors of `body`, converted
  ///   to `StorageError`.
  public func use<Result: Sendable>(
    _ body: (OpenDatabase) async throws -> Result
  ) async throws(StorageError) -> Result {
    let left = busy?()
    defer { left?() }
    let database = try await enter()
    defer { leave() }
    do {
      return try await body(database)
    } catch {
      throw StorageError(error, of: file)
    }
  }

  /// Closes the connections after the last use has ended; refuses new uses immediately.
  ///
  /// Closing twice is not an error. An error of SQLite is reported to the operator; the process
  /// does not use the file again in that case either.
  public func close() async {
    let pool = withState { $0.close() }
    await withCheckedContinuation { continuation in
      let isEmpty = withState { $0.waitUntilEmpty(continuation) }
      if isEmpty { continuation.resume() }
    }
    do {
      try await onQueue { [file] () throws(StorageError) in
        do {
          // The readers close first: the last connection copies the write-ahead log into the file
          // and removes it, which a read-only connection cannot do.
          pool?.invalidateReadOnlyConnections()
          try pool?.close()
        } catch {
          throw StorageError(error, of: file)
        }
      }
    } catch {
      failed(error.message)
    }
  }

  private func enter() async throws(StorageError) -> OpenDatabase {
    if let database = try enterIfOpen() { return database }
    return try await onQueue { [self] () throws(StorageError) in
      // Another call may have opened the file in the meantime.
      if let database = try enterIfOpen() { return database }
      let database = try file.open()
      guard withState({ $0.enter(opened: database) }) else {
        try? database.pool.close()
        throw .closed
      }
      return database
    }
  }

  private func enterIfOpen() throws(StorageError) -> OpenDatabase? {
    try withState { state throws(StorageError) in try state.enter() }
  }

  private func leave() {
    for closer in withState({ $0.leave() }) { closer.resume() }
  }

  private func withState<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }

  private func onQueue<Result: Sendable>(
    _ work: @escaping @Sendable () throws(StorageError) -> Result
  ) async throws(StorageError) -> Result {
    let result = await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(
          returning: Swift.Result { () throws(StorageError) in try work() })
      }
    }
    return try result.get()
  }
}

/// The number of uses in progress, and the closers that wait for their end.
private struct State {
  enum Phase {
    /// Not used yet. Next state: `open` or `closed`.
    case unopened
    /// Next state: `closed`.
    case open(OpenDatabase)
    /// The last state.
    case closed
  }

  private var phase = Phase.unopened
  private var users = 0
  private var closers: [CheckedContinuation<Void, Never>] = []

  /// Begins a use.
  ///
  /// - Returns: Nil if the file has to be opened first.
  mutating func enter() throws(StorageError) -> OpenDatabase? {
    switch phase {
    case .unopened: return nil
    case .closed: throw .closed
    case .open(let database):
      users += 1
      return database
    }
  }

  /// Records the opened file and begins its first use.
  ///
  /// - Returns: False if the file was opened or closed in the meantime.
  mutating func enter(opened database: OpenDatabase) -> Bool {
    guard case .unopened = phase else { return false }
    phase = .open(database)
    users += 1
    return true
  }

  /// Ends a use.
  ///
  /// - Returns: The closers to resume, if this was the last use.
  mutating func leave() -> [CheckedContinuation<Void, Never>] {
    users -= 1
    guard users == 0 else { return [] }
    defer { closers = [] }
    return closers
  }

  /// Refuses all later uses.
  ///
  /// - Returns: The connections to close; nil if they are closed already or were never opened.
  mutating func close() -> DatabasePool? {
    defer { phase = .closed }
    guard case .open(let database) = phase else { return nil }
    return database.pool
  }

  /// Keeps the continuation until the last use has ended.
  ///
  /// - Returns: True if there is no use now; the continuation is not kept in that case.
  mutating func waitUntilEmpty(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
    if users > 0 { closers.append(continuation) }
    return users == 0
  }
}
