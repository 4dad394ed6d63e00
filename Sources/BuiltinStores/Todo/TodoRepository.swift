// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines
public import StatewireJSON

/// A repository of a todo list.
///
/// Results are effects, so that a list in memory can give a result immediately and a list on disk
/// later, without a difference for the stores.
public protocol TodoRepository: AnyObject, Sendable {
  /// Returns a feed of the list and then of each change, by any client or process.
  ///
  /// The first result is `todos`, `held` or `failed`. Changes follow in the order in which they
  /// were made, each before the result of the operation that made it. A newer call of the same
  /// store replaces an older one. The input is settled once the list has been given.
  func getTodos(_ held: TodoList) -> Effect<TodoResult>

  /// Returns the result of an operation if the repository has it immediately; nil to call
  /// `perform`.
  func result(of operation: TodoOperation, on held: TodoList) -> TodoResult?

  /// Returns an effect that makes one change of the list.
  ///
  /// The effect gives exactly one result: `changed` or `made` if the result contains the change,
  /// `done` if the change comes from `getTodos`, or `failed`. If it refuses the input, it calls
  /// `EffectContext.refuse(_:otherwise:)` with `failed`, and then gives `refused`.
  ///
  /// After a restart an operation may be performed again with the same id (`Effect.identified`). A
  /// repository that outlives the process must perform it only once per id.
  func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoResult>

  /// Returns the reason to refuse an operation, for example because its quota has no room. The
  /// default is nil. An operation that is accepted here may still be refused when it is performed.
  func refusal(of operation: TodoOperation, on held: TodoList) -> InputRefusal?
}

extension TodoRepository {
  /// Returns nil: `perform` is called.
  public func result(of operation: TodoOperation, on held: TodoList) -> TodoResult? { nil }

  /// Returns nil: every operation is accepted.
  public func refusal(of operation: TodoOperation, on held: TodoList) -> InputRefusal? { nil }
}

/// A request to a repository. An unknown id is not an error and changes nothing.
public enum TodoOperation: Equatable, Sendable {
  /// Adds a todo at the end. If `id` is nil, the repository makes the id. An id that the list
  /// contains changes nothing.
  case add(title: String, id: String? = nil)
  /// Removes a todo.
  case remove(id: String)
  /// Changes the title of a todo.
  case rename(id: String, title: String)
  /// Marks a todo as completed.
  case complete(id: String)
  /// Marks a todo as not completed.
  case reopen(id: String)
  /// Moves a todo before another one, or to the end if `before` is nil.
  case move(id: String, before: String?)

  /// The name of the operation for hooks, traces and injected faults.
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

/// The result of an operation of a repository.
public enum TodoResult: Sendable {
  /// The list.
  indirect case todos(TodoList)
  /// The list is the one that the store holds.
  case held
  /// The change of the list.
  case changed(TodoChange)
  /// A todo is added. If `id` is nil, the list in the store makes the id.
  case made(title: String, id: String?)
  /// The operation has been carried out.
  case done
  /// The operation has failed.
  case failed
  /// Nothing has changed. The request has been refused, or `failed` was given before.
  case refused
}

/// One change of a list; a todo store folds it while it shows the list.
public enum TodoChange: Equatable, Sendable {
  /// Adds a todo at the end.
  case addTodo(Todo)
  /// Removes a todo.
  case removeTodo(id: String)
  /// Changes the title of a todo.
  case renameTodo(id: String, title: String)
  /// Marks a todo as completed.
  case completeTodo(id: String)
  /// Marks a todo as not completed.
  case reopenTodo(id: String)
  /// Moves a todo before another one, or to the end if `before` is nil.
  case moveTodo(id: String, before: String?)
}

/// The list that a store holds, whether it is shown or not.
public struct TodoList: Codable, Sendable {
  /// The todos in order.
  ///
  /// - Complexity: O(1) to read; O(n) to set.
  public var todos: KeyedList<Todo> {
    get { kept }
    set { self = TodoList(newValue, made: made) }
  }
  private var kept: KeyedList<Todo>
  /// The size of the list; each change updates it.
  public private(set) var size: TodoSize
  /// The number of todos that the list has ever had. New ids of a list in memory continue from
  /// here.
  public private(set) var made: Int
  /// The last number that `make` skipped: the list has the ids of all numbers after `made` up to
  /// this one, so that they are not searched again. It is not persisted.
  private var used = 0

  /// Creates a list with these todos.
  public init(_ todos: KeyedList<Todo> = []) { self.init(todos, made: todos.count) }

  private init(_ todos: KeyedList<Todo>, made: Int) {
    var size = TodoSize()
    for todo in todos { size += TodoSize(todo) }
    self.init(todos, size: size)
    self.made = made
  }

  /// Creates a list whose size is known.
  package init(_ todos: KeyedList<Todo>, size: TodoSize) {
    kept = todos
    self.size = size
    made = todos.count
  }

  /// The length of the next id that `make` makes, if that id is free: a decimal number, in bytes.
  var nextIDBytes: Int {
    var (digits, power) = (1, 10)
    while digits < 18, made + 1 >= power {
      digits += 1
      power *= 10
    }
    return digits
  }

  /// The number with which `make` begins its search for a free one.
  var firstCandidate: Int { max(made, used) + 1 }

  func contains(id: String) -> Bool { kept.contains(id: id) }

  func todo(id: String) -> Todo? { kept[id: id] }

  /// Replaces the todos by those of another list.
  mutating func show(_ other: TodoList) {
    kept = other.kept
    size = other.size
    used = 0
  }

  /// Applies one change.
  public mutating func apply(_ change: TodoChange) {
    switch change {
    case .addTodo(let todo):
      if let old = kept[id: todo.id] { size -= TodoSize(old) }
      kept.append(todo)
      size += TodoSize(todo)
      made += 1
    case .removeTodo(let id):
      guard let todo = kept.remove(id: id) else { return }
      size -= TodoSize(todo)
      if used > made, let number = Int(id), String(number) == id, made < number {
        used = min(used, number - 1)
      }
    case .renameTodo(let id, let title):
      var growth = 0
      kept.update(id: id) { todo in
        growth = title.utf8.count - todo.title.utf8.count
        todo.title = title
      }
      size.bytes += growth
    case .completeTodo(let id): kept.update(id: id) { $0.completed = true }
    case .reopenTodo(let id): kept.update(id: id) { $0.completed = false }
    case .moveTodo(let id, let before): kept.move(id: id, before: before)
    }
  }

  /// Adds a todo at the end, with the given id or the next free number. An id that the list
  /// contains changes nothing.
  ///
  /// - Complexity: O(log n) amortised, if no id is removed that has a number after `made`.
  public mutating func make(title: String, id: String? = nil) {
    if let id {
      _ = appendIfNew(Todo(id: id, title: title))
      return
    }
    // The number of todos that the list has ever had, plus one, unless this id is in use.
    var number = firstCandidate
    while !appendIfNew(Todo(id: String(number), title: title)) { number += 1 }
    if number > made { used = number }
  }

  private mutating func appendIfNew(_ todo: Todo) -> Bool {
    guard kept.appendIfNew(todo) else { return false }
    size += TodoSize(todo)
    made += 1
    return true
  }
}

extension TodoList: ExpressibleByArrayLiteral {
  /// Creates a list from a literal.
  public init(arrayLiteral todos: Todo...) { self.init(KeyedList(todos)) }
}

extension TodoList {
  private enum CodingKeys: CodingKey { case todos, made }

  /// Decodes a list.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try container.decode(KeyedList<Todo>.self, forKey: .todos),
      made: try container.decode(Int.self, forKey: .made))
  }

  /// Encodes the todos and the number of todos ever made.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kept, forKey: .todos)
    try container.encode(made, forKey: .made)
  }
}

extension TodoList: JSONWritable {
  /// Writes the same text as `encode(to:)`, faster.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("todos")
    writer.value(kept)
    writer.key("made")
    writer.value(made)
    writer.endObject()
  }
}
