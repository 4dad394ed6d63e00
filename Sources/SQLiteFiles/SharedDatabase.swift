// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
public import GRDB

/// A database file that the parts of a program share: opened by the first that needs it, closed once.
///
/// Closing waits for those that use it, so that no connection goes away under a query.
public final class SharedDatabase: Sendable {
  private let file: DatabaseFile
  private let lock = NSLock()
  // because each access holds `lock`.
  private nonisolated(unsafe) var state = State()
  /// Where opening and closing block a thread; it also keeps two of them apart.
  private let queue = DispatchQueue(label: "statewire.database")

  /// Called when a use begins, and what it returns when that ends.
  private let busy: (@Sendable () -> @Sendable () -> Void)?
  private let failed: @Sendable (String) -> Void

  /// A file that is opened when it is first needed; this touches none.
  ///
  /// - Parameters:
  ///   - folder: Where the file is or is to be; made for its owner alone (0700) if need be.
  ///   - name: The name of the file in it.
  ///   - schemas: Those of all parts that the file has, also of parts that this program does not use.
  ///   - durability: What commits of this process outlive.
  ///   - busyTimeout: How long to wait for another process that is writing.
  ///   - prepare: Called with the file each time that it has been opened, before it is used.
  ///   - busy: Called when a use of the file begins, and what it returns when that ends; for tests
  ///     that wait until all is done.
  ///   - failed: Takes a sentence about each failure, on any thread. Never what is stored.
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

  /// Tells the operator of a failure, unless a cancellation has caused it, or a missing file, of which the operator
  /// has been told.
  ///
  /// - Parameter what: What the failure has prevented, as a clause; nil: nothing that was asked for.
  package func report(_ error: StorageError, _ what: String? = nil) {
    guard error.code != .cancelled, error.code != .fileMissing else { return }
    failed(what.map { "\($0): \(error.message)" } ?? error.message)
  }

  /// Opens the file now, for a program that wants to know early whether it can be opened.
  ///
  /// - Throws: One sentence that says what is wrong. The next use tries again.
  public func open() async throws(StorageError) {
    try await use { _ in }
  }

  /// Calls `body` with the connections, opened if they are not.
  ///
  /// An opening that failed is tried again by the next call.
  ///
  /// - Throws: `closed` after `close()`; why opening failed; what `body` throws, converted.
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

  /// Ends the connections once no use is left; later uses are refused from now on.
  ///
  /// It is not an error to close it twice. What SQLite says to it goes to the operator; the process no longer uses the
  /// file all the same.
  public func close() async {
    let pool = withState { $0.close() }
    await withCheckedContinuation { continuation in
      let isEmpty = withState { $0.waitUntilEmpty(continuation) }
      if isEmpty { continuation.resume() }
    }
    do {
      try await onQueue { [file] () throws(StorageError) in
        do {
          // The readers first: the last connection of all takes the write-ahead log into the file
          // and removes it, which a read-only one cannot do.
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
      // Another call may have been here first.
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

/// The uses of a file, and the closers that wait for their end.
private struct State {
  enum Phase {
    /// Not needed yet. Can become `open` or `closed`.
    case unopened
    /// Can become `closed`.
    case open(OpenDatabase)
    /// Final.
    case closed
  }

  private var phase = Phase.unopened
  private var users = 0
  private var closers: [CheckedContinuation<Void, Never>] = []

  /// A use begins.
  /// - Returns: Nil if it has to be opened first.
  mutating func enter() throws(StorageError) -> OpenDatabase? {
    switch phase {
    case .unopened: return nil
    case .closed: throw .closed
    case .open(let database):
      users += 1
      return database
    }
  }

  /// The file was opened, and its first use begins.
  /// - Returns: False if the file was closed meanwhile.
  mutating func enter(opened database: OpenDatabase) -> Bool {
    guard case .unopened = phase else { return false }
    phase = .open(database)
    users += 1
    return true
  }

  /// A use has ended.
  /// - Returns: The closers to resume: no use is left.
  mutating func leave() -> [CheckedContinuation<Void, Never>] {
    users -= 1
    guard users == 0 else { return [] }
    defer { closers = [] }
    return closers
  }

  /// Refuses all later uses.
  /// - Returns: The connections to close; nil if they are closed already or were never opened.
  mutating func close() -> DatabasePool? {
    defer { phase = .closed }
    guard case .open(let database) = phase else { return nil }
    return database.pool
  }

  /// - Returns: True if no use is left; otherwise the continuation is kept until then.
  mutating func waitUntilEmpty(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
    if users > 0 { closers.append(continuation) }
    return users == 0
  }
}
