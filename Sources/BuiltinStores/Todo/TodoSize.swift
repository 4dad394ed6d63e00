// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

/// The size of a todo list, or of several together.
public struct TodoSize: Equatable, Sendable {
  public var todos: Int
  /// - Units: UTF-8 bytes of ids and titles, and `bytesPerTodo` for each todo.
  public var bytes: Int

  /// Counted for each todo beside its texts. With it no list takes more than six times its bytes as JSON, where a
  /// control character takes six bytes and the names of the members 40.
  public static let bytesPerTodo = 16

  public init(todos: Int = 0, bytes: Int = 0) {
    self.todos = todos
    self.bytes = bytes
  }

  /// The size of one todo.
  public init(_ todo: Todo) { self.init(id: todo.id, title: todo.title) }

  init(id: String, title: String) {
    self.init(todos: 1, bytes: id.utf8.count + title.utf8.count + Self.bytesPerTodo)
  }

  /// How long an id is at most that a list makes: a positive `Int` in decimal digits.
  static let mostIDBytes = 19

  func fits(in maximum: TodoSize) -> Bool { todos <= maximum.todos && bytes <= maximum.bytes }

  public static func + (a: TodoSize, b: TodoSize) -> TodoSize {
    TodoSize(todos: a.todos + b.todos, bytes: a.bytes + b.bytes)
  }

  public static func - (a: TodoSize, b: TodoSize) -> TodoSize {
    TodoSize(todos: a.todos - b.todos, bytes: a.bytes - b.bytes)
  }

  public static func += (a: inout TodoSize, b: TodoSize) { a = a + b }

  public static func -= (a: inout TodoSize, b: TodoSize) { a = a - b }
}

extension TodoOperation {
  /// How much an operation adds to a list at most: found out without a look at the list where that is possible.
  ///
  /// - Parameter idBytes: How long an id is that the repository makes.
  func mostAdded(to list: TodoList, idBytes: Int) -> TodoSize {
    switch self {
    case .add(let title, let id?):
      list.contains(id: id) ? TodoSize() : TodoSize(id: id, title: title)
    case .add(let title, nil):
      TodoSize(todos: 1, bytes: idBytes + title.utf8.count + TodoSize.bytesPerTodo)
    case .rename(_, let title): TodoSize(bytes: title.utf8.count)
    case .remove, .complete, .reopen, .move: TodoSize()
    }
  }

  /// How much an operation adds to a list.
  ///
  /// - Parameter idBytes: How long an id is that the repository makes.
  package func added(to list: TodoList, idBytes: Int) -> TodoSize {
    guard case .rename(let id, let title) = self else {
      return mostAdded(to: list, idBytes: idBytes)
    }
    guard let todo = list.todo(id: id) else { return TodoSize() }
    return TodoSize(bytes: title.utf8.count - todo.title.utf8.count)
  }
}
