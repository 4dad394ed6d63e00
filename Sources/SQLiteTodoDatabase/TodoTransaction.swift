// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB
internal import SQLiteFiles
internal import StoredTodoLists

/// Carries out one operation on a list, within a transaction that the caller has begun.
struct TodoTransaction {
  let db: GRDB.Database
  let list: String
  let logLength: Int
  var limits = TodoLimits()
  let makeID: @Sendable () -> String

  /// The number of operations whose ids are kept. It exceeds the number of operations in progress
  /// of all restored sessions, unless thousands of sessions have several each.
  static let rememberedOperations: Int64 = 10_000

  /// Carries out an operation, unless one with this id was carried out before.
  ///
  /// - Parameter id: A globally unique id of the operation; nil if it is never repeated.
  /// - Returns: The version of the list afterwards, with the change if there was one.
  func perform(_ operation: TodoOperation, once id: OperationID?) throws -> ListNotification {
    guard let id else { return try perform(operation) }
    if let version = try db.number(.remembered, [id.description.blob]) {
      return ListNotification(version: version)
    }
    let notification = try perform(operation)
    try db.run(.remember, [id.description.blob, notification.version])
    try db.run(.forget, [db.lastInsertedRowID - Self.rememberedOperations])
    return notification
  }

  /// Carries out an operation and logs the change; writes nothing if nothing changes.
  ///
  /// - Returns: The version of the list afterwards, with the change if there was one.
  /// - Throws: `OperationRefusal` if a limit is exceeded; the caller rolls back.
  func perform(_ operation: TodoOperation) throws -> ListNotification {
    guard let stored = try storedList(for: operation) else { return ListNotification(version: 0) }
    guard let change = try change(operation, stored) else {
      return ListNotification(version: stored.version)
    }
    switch operation {
    case .add, .rename: try checkLimits(stored)
    case .remove, .complete, .reopen, .move: break
    }
    let version = try stored.log(change, keeping: logLength)
    return ListNotification(version: version, change: change)
  }

  /// Compares the sizes after a change with the limits.
  private func checkLimits(_ list: StoredList) throws {
    let size = try db.size(.size, [list.id])
    let added = size - list.size
    let refusal =
      try limits.refusal(of: size, adding: added, in: .list)
      ?? limits.refusal(of: db.size(.total, []), adding: added, in: .database)
    if let refusal { throw OperationRefusal(refusal: refusal) }
  }

  /// Returns the list of an operation; nil if it does not exist and the operation does not create
  /// it.
  private func storedList(for operation: TodoOperation) throws -> StoredList? {
    if let stored = try StoredList(named: list, in: db) { return stored }
    guard case .add = operation else { return nil }
    return try StoredList.make(named: list, in: db)
  }

  /// Carries out the operation.
  ///
  /// - Returns: The change; nil if nothing has changed.
  private func change(_ operation: TodoOperation, _ list: StoredList) throws -> TodoChange? {
    switch operation {
    case .add(let title, let id):
      if let id, try db.number(.position, [list.id, id.blob]) != nil { return nil }
      let position = try TodoPositions(list).free(before: nil)
      return .addTodo(try insert(title, id: id, at: position, list))
    case .remove(let id):
      return try db.run(.remove, [list.id, id.blob]) > 0 ? .removeTodo(id: id) : nil
    case .rename(let id, let title):
      let count = try db.run(.rename, [list.id, id.blob, title.blob])
      return count > 0 ? .renameTodo(id: id, title: title) : nil
    case .complete(let id):
      return try db.run(.setCompleted, [list.id, id.blob, 1]) > 0 ? .completeTodo(id: id) : nil
    case .reopen(let id):
      return try db.run(.setCompleted, [list.id, id.blob, 0]) > 0 ? .reopenTodo(id: id) : nil
    case .move(let id, let before):
      return try TodoPositions(list).move(id, before: before)
        ? .moveTodo(id: id, before: before) : nil
    }
  }

  /// Inserts a todo at a free position.
  ///
  /// - Parameter id: An id that the list does not have; nil: an id is created.
  private func insert(
    _ title: String, id: String?, at position: Int64, _ list: StoredList
  ) throws -> Todo {
    while true {
      let todo = Todo(id: id ?? makeID(), title: title)
      do {
        try db.run(.insert, [list.id, position, todo.id.blob, title.blob])
        return todo
      } catch {
        // A deterministic `makeID` may create ids that an earlier process has used in this list.
        guard id == nil, try db.number(.position, [list.id, todo.id.blob]) != nil else {
          throw error
        }
      }
    }
  }
}
