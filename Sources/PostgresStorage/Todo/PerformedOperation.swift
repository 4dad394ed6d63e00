// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import PostgresConnections
internal import StoredTodoLists

/// An operation as a call of `statewire.todo_perform`.
struct PerformedOperation: Sendable {
  enum Outcome: Sendable {
    /// The version of the list afterwards, with the change if there was one.
    case version(ListNotification)
    case refused(InputRefusal)
    /// The list has the id that was made.
    case taken
  }

  private let change: TodoChange
  /// True if the id of the new todo was made here.
  private let isMade: Bool

  /// Creates the call.
  ///
  /// - Parameter makeID: Makes the id of a new todo, if the operation has none.
  init(_ operation: TodoOperation, makeID: () -> String) {
    var isMade = false
    switch operation {
    case .add(let title, let id):
      isMade = id == nil
      change = .addTodo(Todo(id: id ?? makeID(), title: title))
    case .remove(let id): change = .removeTodo(id: id)
    case .rename(let id, let title): change = .renameTodo(id: id, title: title)
    case .complete(let id): change = .completeTodo(id: id)
    case .reopen(let id): change = .reopenTodo(id: id)
    case .move(let id, let before): change = .moveTodo(id: id, before: before)
    }
    self.isMade = isMade
  }

  func parameters(
    on list: ByteString, once: String, _ options: PostgresStorage.Options
  ) -> [PostgresParameter] {
    let columns = LoggedChange(change)
    let (most, total) = (options.todoLimits[.list], options.todoLimits[.database])
    return [
      .text(list.string), .text(once), .text(columns.operation), .text(columns.todo),
      .boolean(isMade), columns.title.map(PostgresParameter.text) ?? .null,
      columns.other.map(PostgresParameter.text) ?? .null, .integer(Int64(options.logLength)),
      .integer(Int64(most.todos)), .integer(Int64(most.bytes)), .integer(Int64(total.todos)),
      .integer(Int64(total.bytes)),
    ]
  }

  /// Reads the result.
  func outcome(_ rows: PostgresRows, _ limits: TodoLimits) -> Outcome {
    func size(_ column: Int) -> TodoSize {
      TodoSize(
        todos: Int(rows.integer(0, column) ?? 0), bytes: Int(rows.integer(0, column + 1) ?? 0))
    }
    let version = rows.integer(0, 1) ?? 0
    switch rows.text(0, 0) {
    case "changed": return .version(ListNotification(version: version, change: change))
    case "taken": return .taken
    case "refused":
      let added = size(2)
      let refusal =
        limits.refusal(of: size(4), adding: added, in: .list)
        ?? limits.refusal(of: size(6), adding: added, in: .database)
      return .refused(refusal ?? InputRefusal(.limit("todos"), "a limit of the lists is exceeded"))
    default: return .version(ListNotification(version: version))
    }
  }
}
