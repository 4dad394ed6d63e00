// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines
public import StatewireJSON

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
  /// does, or `failed`; exactly one of them. Or it refuses the input (`EffectContext.refuse`, otherwise `failed`)
  /// and then answers `refused`.
  ///
  /// An operation may be run again after a restart, under the same id (`Effect.identified`): what
  /// outlives the process must not carry it out twice.
  func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoAnswer>

  /// Why an operation is not taken, since there is no room for what it adds say; by default every one
  /// is. One that is taken may be refused all the same when it is performed.
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
  indirect case todos(TodoList)
  /// The list is the one that the store holds.
  case held
  case changed(TodoChange)
  /// A todo is added, whose id the list that the store holds makes where none is given.
  case made(title: String, id: String?)
  /// The operation has been carried out.
  case done
  case failed
  /// Nothing has changed; a request has been told, or `failed` came before.
  case refused
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
  ///
  /// - Cost: Setting it looks at each of them.
  public var todos: KeyedList<Todo> {
    get { kept }
    set { self = TodoList(newValue, made: made) }
  }
  private var kept: KeyedList<Todo>
  /// The size of the list, brought forward with each change.
  public private(set) var size: TodoSize
  /// How many todos the list has ever had; the ids of a list in memory count on from here.
  public var made: Int

  /// A list with these todos.
  public init(_ todos: KeyedList<Todo> = []) { self.init(todos, made: todos.count) }

  private init(_ todos: KeyedList<Todo>, made: Int) {
    var size = TodoSize()
    for todo in todos { size += TodoSize(todo) }
    self.init(todos, size: size)
    self.made = made
  }

  /// A list whose size is known.
  package init(_ todos: KeyedList<Todo>, size: TodoSize) {
    kept = todos
    self.size = size
    made = todos.count
  }

  /// How long the next id is that `make` makes, unless that one is taken: a decimal number.
  var nextIDBytes: Int {
    var (digits, power) = (1, 10)
    while digits < 18, made + 1 >= power {
      digits += 1
      power *= 10
    }
    return digits
  }

  func contains(id: String) -> Bool { kept.contains(id: id) }

  func todo(id: String) -> Todo? { kept[id: id] }

  /// Takes over the todos of another list.
  mutating func show(_ other: TodoList) {
    kept = other.kept
    size = other.size
  }

  /// Carries over one change.
  public mutating func apply(_ change: TodoChange) {
    switch change {
    case .addTodo(let todo):
      if let old = kept[id: todo.id] { size -= TodoSize(old) }
      kept.append(todo)
      size += TodoSize(todo)
      made += 1
    case .removeTodo(let id):
      if let todo = kept.remove(id: id) { size -= TodoSize(todo) }
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

  /// Adds a todo at the end, with the id that is given or the next one; one that the list has changes
  /// nothing.
  public mutating func make(title: String, id: String? = nil) {
    if let id {
      _ = appendIfNew(Todo(id: id, title: title))
      return
    }
    // The number of the next todo among all that the list has had, unless one came with that id.
    var number = made + 1
    while !appendIfNew(Todo(id: String(number), title: title)) { number += 1 }
  }

  private mutating func appendIfNew(_ todo: Todo) -> Bool {
    guard kept.appendIfNew(todo) else { return false }
    size += TodoSize(todo)
    made += 1
    return true
  }
}

extension TodoList: ExpressibleByArrayLiteral {
  public init(arrayLiteral todos: Todo...) { self.init(KeyedList(todos)) }
}

extension TodoList {
  private enum CodingKeys: CodingKey { case todos, made }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try container.decode(KeyedList<Todo>.self, forKey: .todos),
      made: try container.decode(Int.self, forKey: .made))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kept, forKey: .todos)
    try container.encode(made, forKey: .made)
  }
}

extension TodoList: JSONWritable {
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("todos")
    writer.value(kept)
    writer.key("made")
    writer.value(made)
    writer.endObject()
  }
}
