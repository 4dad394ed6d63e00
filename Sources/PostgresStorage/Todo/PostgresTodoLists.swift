// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
internal import PostgresConnections
internal import StateMachines
public import StoredTodoLists

/// The todo lists in PostgreSQL, which all nodes share.
///
/// An operation is one statement (`statewire.todo_perform`). See `TodoListStorage` for the way of a
/// change to all feeds, and `PostgresStorage` for the guarantees.
public final class PostgresTodoLists: TodoLists {
  /// The listeners of this process.
  public let listeners: ListListeners
  /// The order of the operations of this process.
  public let line = OperationLine()
  private let parts: StorageParts
  private let makeID: @Sendable () -> String
  private let reads = SharedReads<ReadKey, MissedChanges>()
  /// The version of each list with listeners that was passed on to them.
  private let seen = Lock<[ByteString: ListVersion]>([:])
  /// The lists of the reading in progress.
  private let asked = Lock<[ByteString]>([])

  private struct ReadKey: Hashable {
    let list: ByteString
    let version: ListVersion
  }

  init(_ parts: StorageParts, makeID: @escaping @Sendable () -> String) {
    (self.parts, self.makeID) = (parts, makeID)
    listeners = ListListeners(logLength: parts.options.logLength)
  }

  /// Returns the repository of one store; see `TodoLists`. All nodes share the lists.
  public func repository(list: String) -> StoredTodoRepository {
    StoredTodoRepository(self, list: list)
  }
}

extension PostgresTodoLists: TodoListStorage {
  /// The maximum size of one list, and of all lists together.
  public var limits: TodoLimits { parts.options.todoLimits }

  /// Reads the changes of a list since a version, or the list; see `TodoListStorage`.
  ///
  /// A feed that has its list waits for a database that does not respond; the first read of a feed
  /// fails after the patience.
  public func read(_ list: ByteString, after version: ListVersion) async throws -> MissedChanges {
    do {
      let key = ReadKey(list: list, version: version)
      let missed = try await reads.read(key) { try await readAlone(list, after: version) }
      parts.incidents.end()
      return missed
    } catch {
      if error is CancellationError { throw error }
      parts.incidents.add("The todo list could not be read", error)
      throw error
    }
  }

  private func readAlone(
    _ list: ByteString, after version: ListVersion
  ) async throws -> MissedChanges {
    // The content that other stores show, with the changes since then, is the list.
    let known = version < 0 ? listeners.lastRead(list) : nil
    let read = try await rows(of: list, after: known?.version ?? version, isPatient: version >= 0)
    see(list, read.version, isExact: version < 0)
    switch read.content {
    case .changes(let changes):
      guard let known else { return .changes(changes) }
      var content = known.list
      for (_, change) in changes { content.apply(change) }
      return .list(listeners.share(ReadList(version: read.version, list: content), of: list))
    case .todos(let content):
      return .list(listeners.share(ReadList(version: read.version, list: content), of: list))
    }
  }

  private func rows(
    of list: ByteString, after version: ListVersion, isPatient: Bool
  ) async throws -> TodoRows {
    var version = version
    while true {
      let reading = PostgresTransaction(
        TodoStatements.read, .text(list.string), .integer(version))
      let rows = try await parts.changes.read(reading, isPatient: isPatient)[0]
      if let read = TodoRows(rows, after: version) { return read }
      version = -1
    }
  }

  /// Carries out an operation; see `TodoListStorage`.
  public func perform(
    _ operation: TodoOperation, on list: ByteString, once id: OperationID?,
    at place: OperationPlace? = nil
  ) async throws -> Result<ListVersion, OperationRefusal> {
    await place?.wait()
    try Task.checkCancellation()
    // An operation that no session repeats is repeated here after a lost connection.
    let once = id?.description ?? RandomUUID.text()
    while true {
      let performing = PerformedOperation(operation, makeID: makeID)
      let result = AwaitedResult<PerformedOperation.Outcome>()
      let transaction = PostgresTransaction(
        TodoStatements.perform, performing.parameters(on: list, once: once, parts.options))
      parts.writes.begin(transaction, on: .list(list)) { [self] ended in
        let outcome = ended.map { performing.outcome($0[0], limits) }
        if case .success(.version(let notification)) = outcome { passOn(notification, list) }
        result.end(outcome.mapError { $0 })
      }
      // The next operation follows this one in the pipeline.
      place?.leave()
      do {
        switch try await result.wait() {
        case .version(let notification):
          parts.incidents.end()
          return .success(notification.version)
        case .refused(let refusal): return .failure(OperationRefusal(refusal: refusal))
        // Possible only if `makeID` makes ids of an earlier process.
        case .taken: continue
        }
      } catch {
        if error is CancellationError { throw error }
        parts.incidents.add("\(operation.name) could not be carried out", error)
        throw error
      }
    }
  }

  /// Notifies the listeners and the other nodes of an operation.
  private func passOn(_ notification: ListNotification, _ list: ByteString) {
    // Also if nothing has changed: the version may come from another node.
    listeners.notify(list, notification)
    guard notification.change != nil else { return }
    // Earlier changes of other nodes, if there are any, are read by the feeds.
    see(list, notification.version)
    parts.changes.announce()
  }

  private func see(_ list: ByteString, _ version: ListVersion, isExact: Bool = false) {
    seen.withLock { seen in
      seen[list] = isExact ? version : max(version, seen[list] ?? version)
    }
  }
}

extension PostgresTodoLists: ChangeFeed.Source {
  var hasListeners: Bool { listeners.hasListeners }

  func additions() -> AsyncStream<Void> { listeners.additions() }

  func reading() -> (statement: PostgresStatement, parameters: [PostgresParameter])? {
    let shown = Set(listeners.lists)
    let (lists, versions) = seen.withLock { seen in
      seen = seen.filter { shown.contains($0.key) }
      return (Array(seen.keys), Array(seen.values))
    }
    asked.withLock { $0 = lists }
    if lists.isEmpty { return nil }
    let names = lists.map { Array($0.string.utf8) }
    return (TodoStatements.changes, [.byteArrays(names), .integers(versions)])
  }

  func take(_ rows: PostgresRows) {
    let lists = asked.withLock { $0 }
    var versions: [ByteString: ListVersion] = [:]
    for row in 0..<rows.count {
      let list = lists[Int(rows.integer(row, 0) ?? 1) - 1]
      versions[list] = rows.integer(row, 1) ?? 0
      // Null if the log has no change since then.
      guard let version = rows.integer(row, 2) else { continue }
      let change = LoggedChange(rows, row, 3).change
      listeners.notify(list, ListNotification(version: version, change: change))
    }
    for (list, version) in versions {
      see(list, version)
      // Without an effect unless the log did not have all changes.
      listeners.notify(list, ListNotification(version: version))
    }
  }
}
