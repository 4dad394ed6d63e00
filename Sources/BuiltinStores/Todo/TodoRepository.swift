// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireProtocol

/// Keeps todo lists.
///
/// What it is asked for comes back as an effect, so that a list in memory can answer at once and
/// one on disk later, and the stores cannot tell the difference.
public protocol TodoRepository: Sendable {
  /// The list, and from then on every change of it, by whomever.
  ///
  /// Answers `todos`, `held` or `failed` first; changes after it in the order they were made, each
  /// before the answer to the operation that made it. A newer call of the same store replaces an
  /// older one. Nobody waits for the end once the list has been given.
  func getTodos(_ held: TodoList) -> Effect<TodoAnswer>

  /// The answer to `perform` of a repository that has it at once; nil: `perform` is asked instead.
  func answer(to operation: TodoOperation, on held: TodoList) -> TodoAnswer?

  /// Makes one change of the list.
  ///
  /// Answers `changed` or `made` where the list itself says what changed, `done` where `getTodos`
  /// does, or `failed`; exactly one of them.
  ///
  /// An operation may be run again after a restart, under the same id (`Effect.identified`): what
  /// outlives the process must not carry it out twice.
  func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoAnswer>

  /// Why an operation is not taken, since there is no room for what it adds say; by default every one
  /// is.
  func refusal(of operation: TodoOperation, on held: TodoList) -> InputRefusal?
}

extension TodoRepository {
  public func answer(to operation: TodoOperation, on held: TodoList) -> TodoAnswer? { nil }

  public func refusal(of operation: TodoOperation, on held: TodoList) -> InputRefusal? { nil }
}

/// What a repository is asked to do. Unknown ids are no error and change nothing.
public enum TodoOperation: Equatable, Sendable {
  /// Adds a todo at the end; nil: under an id that the repository makes. An id that the list has
  /// changes nothing.
  case add(title: String, id: String? = nil)
  case remove(id: String)
  case rename(id: String, title: String)
  case complete(id: String)
  case reopen(id: String)
  /// Before another todo; nil: to the end.
  case move(id: String, before: String?)

  /// What hooks, traces and injected faults call this operation.
  public var name: String {
    switch self {
    case .add: "addTodo"
    case .remove: "removeTodo"
    case .rename: "renameTodo"
    case .complete: "completeTodo"
    case .reopen: "reopenTodo"
    case .move: "moveTodo"
    }
  }
}

/// What a repository says.
public enum TodoAnswer: Sendable {
  indirect case todos(KeyedList<Todo>)
  /// The list is the one that the store holds.
  case held
  case changed(TodoChange)
  /// A todo is added, whose id the list that the store holds makes where none is given.
  case made(title: String, id: String?)
  /// The operation has been carried out.
  case done
  case failed
}

/// One change of a list; folded by a todo store while it shows the list.
public enum TodoChange: Equatable, Sendable {
  /// At the end.
  case addTodo(Todo)
  case removeTodo(id: String)
  case renameTodo(id: String, title: String)
  case completeTodo(id: String)
  case reopenTodo(id: String)
  /// Before another todo; nil: to the end.
  case moveTodo(id: String, before: String?)
}

/// The list as a store holds it, shown or not.
public struct TodoList: Codable, Sendable {
  /// The todos in order.
  public var todos: KeyedList<Todo>
  /// How many todos the list has ever had; the ids of a list in memory count on from here.
  public var made: Int

  /// A list with these todos.
  public init(_ todos: KeyedList<Todo> = []) {
    self.todos = todos
    made = todos.count
  }

  /// Carries over one change.
  public mutating func apply(_ change: TodoChange) {
    switch change {
    case .addTodo(let todo):
      todos.append(todo)
      made += 1
    case .removeTodo(let id): todos.remove(id: id)
    case .renameTodo(let id, let title): todos.update(id: id) { $0.title = title }
    case .completeTodo(let id): todos.update(id: id) { $0.completed = true }
    case .reopenTodo(let id): todos.update(id: id) { $0.completed = false }
    case .moveTodo(let id, let before): todos.move(id: id, before: before)
    }
  }

  /// Adds a todo at the end, with the id that is given or the next one; one that the list has changes
  /// nothing.
  public mutating func make(title: String, id: String? = nil) {
    if let id {
      if todos.appendIfNew(Todo(id: id, title: title)) { made += 1 }
      return
    }
    // The number of the next todo among all that the list has had, unless one came with that id.
    var number = made + 1
    while !todos.appendIfNew(Todo(id: String(number), title: title)) { number += 1 }
    made += 1
  }
}
