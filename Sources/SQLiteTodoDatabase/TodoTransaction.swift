// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB
internal import SQLiteFiles

/// Carries out one operation on a list, within a transaction that the caller has begun.
struct TodoTransaction {
  let db: GRDB.Database
  let list: String
  let logLength: Int
  var limits = TodoLimits()
  let makeID: @Sendable () -> String

  /// How many operations are remembered: more than can have been asked for by sessions that are
  /// brought back, unless each of thousands has several on its way.
  static let rememberedOperations: Int64 = 10_000

  /// Makes the change unless it was made before under this id.
  ///
  /// - Parameter id: Names the operation among all that ever were; nil: nobody asks a second time.
  /// - Returns: The version of the list now, with the change if there was one.
  func perform(_ operation: TodoOperation, once id: OperationID?) throws -> ListNews {
    guard let id else { return try perform(operation) }
    if let version = try db.number(.remembered, [id.description.blob]) {
      return ListNews(version: version)
    }
    let news = try perform(operation)
    try db.run(.remember, [id.description.blob, news.version])
    try db.run(.forget, [db.lastInsertedRowID - Self.rememberedOperations])
    return news
  }

  /// Makes the change and writes it down; what changes nothing writes nothing.
  ///
  /// - Returns: The version of the list after it, with the change if there was one.
  /// - Throws: `OperationRefusal` where a limit is exceeded; the caller rolls back.
  func perform(_ operation: TodoOperation) throws -> ListNews {
    guard let stored = try storedList(for: operation) else { return ListNews(version: 0) }
    guard let change = try change(operation, stored) else {
      return ListNews(version: stored.version)
    }
    switch operation {
    case .add, .rename: try checkLimits(stored)
    case .remove, .complete, .reopen, .move: break
    }
    let version = try stored.log(change, keeping: logLength)
    return ListNews(version: version, change: change)
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

  /// The list that an operation is about; nil if there is none and it makes none.
  private func storedList(for operation: TodoOperation) throws -> StoredList? {
    if let stored = try StoredList(named: list, in: db) { return stored }
    guard case .add = operation else { return nil }
    return try StoredList.make(named: list, in: db)
  }

  /// - Returns: What has changed; nil if nothing has.
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

  /// Inserts a todo at a position that is free.
  ///
  /// - Parameter id: An id that the list does not have; nil: one is made.
  private func insert(
    _ title: String, id: String?, at position: Int64, _ list: StoredList
  ) throws -> Todo {
    while true {
      let todo = Todo(id: id ?? makeID(), title: title)
      do {
        try db.run(.insert, [list.id, position, todo.id.blob, title.blob])
        return todo
      } catch {
        // Where ids are made as they were the last time, a list of that time has them already.
        guard id == nil, try db.number(.position, [list.id, todo.id.blob]) != nil else {
          throw error
        }
      }
    }
  }
}

/// An operation exceeds a limit.
struct OperationRefusal: Error, Equatable {
  let refusal: InputRefusal
}
