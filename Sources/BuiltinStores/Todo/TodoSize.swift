// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

/// The size of a todo list, or of several lists together.
public struct TodoSize: Equatable, Sendable {
  /// The number of todos.
  public var todos: Int
  /// The size in bytes: UTF-8 bytes of ids and titles, and `bytesPerTodo` for each todo.
  public var bytes: Int

  /// The bytes that are counted for each todo in addition to its texts. With them the JSON text of
  /// a list is at most six times the counted bytes: a control character takes six bytes, and the
  /// names of the members take 40.
  public static let bytesPerTodo = 16

  /// Creates a size.
  public init(todos: Int = 0, bytes: Int = 0) {
    self.todos = todos
    self.bytes = bytes
  }

  /// Creates the size of one todo.
  public init(_ todo: Todo) { self.init(id: todo.id, title: todo.title) }

  init(id: String, title: String) {
    self.init(todos: 1, bytes: id.utf8.count + title.utf8.count + Self.bytesPerTodo)
  }

  /// The longest id that a list makes, in bytes: a positive `Int` in decimal digits.
  static let mostIDBytes = 19

  func fits(in maximum: TodoSize) -> Bool { todos <= maximum.todos && bytes <= maximum.bytes }

  /// Adds two sizes.
  public static func + (a: TodoSize, b: TodoSize) -> TodoSize {
    TodoSize(todos: a.todos + b.todos, bytes: a.bytes + b.bytes)
  }

  /// Subtracts two sizes.
  public static func - (a: TodoSize, b: TodoSize) -> TodoSize {
    TodoSize(todos: a.todos - b.todos, bytes: a.bytes - b.bytes)
  }

  /// Adds a size.
  public static func += (a: inout TodoSize, b: TodoSize) { a = a + b }

  /// Subtracts a size.
  public static func -= (a: inout TodoSize, b: TodoSize) { a = a - b }
}

extension TodoOperation {
  /// Returns the most that an operation adds to a list, without reading the list if possible.
  ///
  /// - Parameters:
  ///   - list: The list.
  ///   - idBytes: The length of an id that the repository makes, in bytes.
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

  /// Returns the size that an operation adds to a list.
  ///
  /// - Parameters:
  ///   - list: The list.
  ///   - idBytes: The length of an id that the repository makes, in bytes.
  package func added(to list: TodoList, idBytes: Int) -> TodoSize {
    guard case .rename(let id, let title) = self else {
      return mostAdded(to: list, idBytes: idBytes)
    }
    guard let todo = list.todo(id: id) else { return TodoSize() }
    return TodoSize(bytes: title.utf8.count - todo.title.utf8.count)
  }
}
