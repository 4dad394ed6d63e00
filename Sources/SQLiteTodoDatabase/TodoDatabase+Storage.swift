// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
internal import GRDB
internal import SQLiteFiles
public import StoredTodoLists

extension TodoDatabase: TodoListStorage {
  /// Reads the changes of a list since a version, or the list; see `TodoListStorage`.
  public func read(
    _ list: ByteString, after version: ListVersion
  ) async throws -> MissedChanges {
    let listeners = listeners
    return try await reporting("The todo list could not be read") { () throws(StorageError) in
      try await file.use { database in
        try await database.read { db in
          try MissedChanges(since: version, ofListNamed: list, in: db, sharing: listeners)
        }
      }
    }
  }

  /// Carries out an operation; see `TodoListStorage`.
  public func perform(
    _ operation: TodoOperation, on list: ByteString, once id: OperationID?,
    at place: OperationPlace? = nil
  ) async throws -> Result<ListVersion, OperationRefusal> {
    let what = "\(operation.name) could not be carried out"
    return try await reporting(what) { () throws(StorageError) in
      try await file.use { open in
        await place?.wait()
        return try await open.onWriter { [self, files = open.files] db in
          // On the writer's queue: the next operation runs after this one.
          place?.leave()
          let transaction = TodoTransaction(
            db: db, list: list.string, logLength: logLength, limits: limits, makeID: makeID)
          let notification: ListNotification
          do {
            notification = try db.write(checking: files) {
              try transaction.perform(operation, once: id)
            }
          } catch let error as OperationRefusal {
            return .failure(error)
          }
          // Still on the writer's queue, so that the notifications of this process are in commit
          // order. They are also sent if nothing changed: the version may come from another process.
          listeners.notify(list, notification)
          return .success(notification.version)
        }
      }
    }
  }

  /// Reports a failure to the operator, unless the task was cancelled.
  private func reporting<Result>(
    _ what: String, _ body: () async throws(StorageError) -> Result
  ) async throws -> Result {
    do throws(StorageError) {
      return try await body()
    } catch {
      if error.code == .cancelled { throw CancellationError() }
      file.report(error, what)
      throw error
    }
  }
}

extension MissedChanges {
  /// Reads the changes within one transaction; the whole list if the version is -1.
  ///
  /// - Parameter listeners: The owner of the content that was read before.
  fileprivate init(
    since version: ListVersion, ofListNamed name: ByteString, in db: GRDB.Database,
    sharing listeners: ListListeners
  ) throws {
    guard let list = try StoredList(named: name.string, in: db) else {
      self = version < 0 ? .list(ReadList(version: 0, list: [])) : .changes([])
      return
    }
    if version >= 0, let changes = try list.changes(since: version) {
      self = .changes(changes)
    } else {
      let read = ReadList(
        version: list.version, list: try list.todos(after: listeners.lastRead(name)))
      self = .list(listeners.share(read, of: name))
    }
  }
}
