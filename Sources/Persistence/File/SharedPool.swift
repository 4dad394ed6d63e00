// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import Dispatch
internal import GRDB

/// The one way to the database: opened by whoever needs it first, shared, closed once.
///
/// Closing waits for those who are in, so that no connection goes away under a query.
final class SharedPool: Sendable {
  private let file: DatabaseFile
  private let state = Lock(State())
  /// Where opening and closing block a thread; it also keeps two of them apart.
  private let queue = DispatchQueue(label: "statewire.database")

  /// Called when somebody comes in, and what it returns when they leave.
  private let entered: (@Sendable () -> @Sendable () -> Void)?

  init(_ file: DatabaseFile, entered: (@Sendable () -> @Sendable () -> Void)? = nil) {
    self.file = file
    self.entered = entered
  }

  /// Calls `body` with the connections, opened if they are not.
  ///
  /// An opening that failed is tried again by the next call.
  ///
  /// - Throws: `closed` after `close()`; why opening failed; what `body` throws, converted.
  func use<Result: Sendable>(
    _ body: (OpenDatabase) async throws -> Result
  ) async throws(PersistenceError) -> Result {
    let left = entered?()
    defer { left?() }
    let database = try await enter()
    defer { leave() }
    do {
      return try await body(database)
    } catch {
      throw PersistenceError(error, in: file.folder)
    }
  }

  /// Ends the connections once nobody is in; later uses are refused from now on.
  ///
  /// - Throws: What SQLite said to it; the process no longer uses the database all the same.
  func close() async throws(PersistenceError) {
    let pool = state.withLock { $0.close() }
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { $0.waitUntilEmpty(continuation) }
      if isEmpty { continuation.resume() }
    }
    let file = file
    try await onQueue { () throws(PersistenceError) in
      do {
        // The readers first: the last connection of all takes the write-ahead log into the file
        // and removes it, which a read-only one cannot do.
        pool?.invalidateReadOnlyConnections()
        try pool?.close()
      } catch {
        throw PersistenceError(error, in: file.folder)
      }
    }
  }

  private func enter() async throws(PersistenceError) -> OpenDatabase {
    if let database = try enterIfOpen() { return database }
    return try await onQueue { [self] () throws(PersistenceError) in
      // Another call may have been here first.
      if let database = try enterIfOpen() { return database }
      let database = try file.open()
      guard state.withLock({ $0.enter(opened: database) }) else {
        try? database.pool.close()
        throw .closed
      }
      return database
    }
  }

  private func enterIfOpen() throws(PersistenceError) -> OpenDatabase? {
    try state.withLock { state throws(PersistenceError) in try state.enter() }
  }

  private func leave() {
    for closer in state.withLock({ $0.leave() }) { closer.resume() }
  }

  private func onQueue<Result: Sendable>(
    _ work: @escaping @Sendable () throws(PersistenceError) -> Result
  ) async throws(PersistenceError) -> Result {
    let result = await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(
          returning: Swift.Result { () throws(PersistenceError) in try work() })
      }
    }
    return try result.get()
  }
}

/// Who is in, and who waits for them to leave.
private struct State {
  enum Phase {
    /// Nobody has needed it yet. Can become `open` or `closed`.
    case unopened
    /// Can become `closed`.
    case open(OpenDatabase)
    /// Final.
    case closed
  }

  private var phase = Phase.unopened
  private var users = 0
  private var closers: [CheckedContinuation<Void, Never>] = []

  /// Somebody comes in.
  /// - Returns: Nil if it has to be opened first.
  mutating func enter() throws(PersistenceError) -> OpenDatabase? {
    switch phase {
    case .unopened: return nil
    case .closed: throw .closed
    case .open(let database):
      users += 1
      return database
    }
  }

  /// Somebody has opened it and comes in.
  /// - Returns: Whether it may stay open.
  mutating func enter(opened database: OpenDatabase) -> Bool {
    guard case .unopened = phase else { return false }
    phase = .open(database)
    users += 1
    return true
  }

  /// Somebody has left.
  /// - Returns: Whom to tell that nobody is in.
  mutating func leave() -> [CheckedContinuation<Void, Never>] {
    users -= 1
    guard users == 0 else { return [] }
    defer { closers = [] }
    return closers
  }

  /// Nobody comes in from now on.
  /// - Returns: What there is to close; nil if somebody else does or there is nothing.
  mutating func close() -> DatabasePool? {
    defer { phase = .closed }
    guard case .open(let database) = phase else { return nil }
    return database.pool
  }

  /// - Returns: Whether nobody is in; otherwise the continuation is kept until then.
  mutating func waitUntilEmpty(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
    if users > 0 { closers.append(continuation) }
    return users == 0
  }
}
