// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// The columns of a change in the change log of a database. The words are stored and must never
/// change.
public struct LoggedChange: Equatable, Sendable {
  /// The word for the kind of the change.
  public let operation: String
  /// The id of the todo.
  public let todo: String
  /// The title of an added or renamed todo.
  public let title: String?
  /// The todo before which another one was moved; nil: to the end.
  public let other: String?

  /// Creates the columns of a change.
  public init(_ change: TodoChange) {
    switch change {
    case .addTodo(let todo): self.init("add", todo.id, todo.title, nil)
    case .removeTodo(let id): self.init("remove", id, nil, nil)
    case .renameTodo(let id, let title): self.init("rename", id, title, nil)
    case .completeTodo(let id): self.init("complete", id, nil, nil)
    case .reopenTodo(let id): self.init("reopen", id, nil, nil)
    case .moveTodo(let id, let before): self.init("move", id, nil, before)
    }
  }

  /// Creates columns that were read.
  ///
  /// - Parameters:
  ///   - operation: The word for the kind of the change.
  ///   - todo: The id of the todo.
  ///   - title: The title of an added or renamed todo.
  ///   - other: The todo before which another one was moved.
  public init(_ operation: String, _ todo: String, _ title: String?, _ other: String?) {
    (self.operation, self.todo, self.title, self.other) = (operation, todo, title, other)
  }

  /// The change; nil for an operation that this program does not know.
  public var change: TodoChange? {
    switch (operation, title) {
    case ("add", let title?): .addTodo(Todo(id: todo, title: title))
    case ("remove", _): .removeTodo(id: todo)
    case ("rename", let title?): .renameTodo(id: todo, title: title)
    case ("complete", _): .completeTodo(id: todo)
    case ("reopen", _): .reopenTodo(id: todo)
    case ("move", _): .moveTodo(id: todo, before: other)
    default: nil
    }
  }
}
