// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import BuiltinStoresProtocol
public import StateMachines

/// A store that records the results of its repository and folds the changes of its feed.
public struct Probe: StateMachine {
  public enum Input: Sendable {
    case load
    case perform(TodoOperation)
  }

  public enum Action: Sendable {
    case fed(TodoResult)
    case performed(TodoResult)
  }

  public struct State: Sendable {
    public var fed: [TodoResult] = []
    public var results: [TodoResult] = []
    /// The list after all changes of the feed.
    public var list = PlainList()
  }

  public let initialState = State()
  let repository: any TodoRepository

  public func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .load:
      repository.getTodos(TodoList()).compactMap { .fed($0) }
    case .perform(let operation):
      repository.perform(operation, on: TodoList()).compactMap { .performed($0) }
    }
  }

  public func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .fed(let result):
      state.fed.append(result)
      switch result {
      case .todos(let list): state.list.todos = Array(list.todos)
      case .changed(let change): state.list.apply(change)
      case .held, .made, .done, .failed, .refused: break
      }
    case .performed(let result):
      state.results.append(result)
    }
  }

  public func view(of state: State) -> Int { state.fed.count + state.results.count }
}

extension Probe.Input: Decodable {
  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "sent by tests only"))
  }
}

extension Host where Machine == Probe {
  public init(_ lists: some TodoLists, list: String = "default") async throws {
    try await self.init(Probe(repository: lists.repository(list: list)))
  }

  /// The results of the feed in short form: the size of a whole list, or the change.
  public var fed: [String] { (state?.fed ?? []).map(\.short) }
  public var results: [String] { (state?.results ?? []).map(\.short) }
  public var todos: [Todo] { state?.list.todos ?? [] }

  public func perform(_ operation: TodoOperation) async throws {
    try await send(.perform(operation))
  }

  public func add(_ titles: String...) async throws {
    for title in titles { try await perform(.add(title: title)) }
  }
}

extension TodoResult {
  public var short: String {
    switch self {
    case .todos(let list): "list of \(list.todos.count)"
    case .changed(.addTodo(let todo)): "add \(todo.title)"
    case .changed(.removeTodo(let id)): "remove \(id)"
    case .changed(.renameTodo(let id, let title)): "rename \(id) \(title)"
    case .changed(.completeTodo(let id)): "complete \(id)"
    case .changed(.reopenTodo(let id)): "reopen \(id)"
    case .changed(.moveTodo(let id, let before)): "move \(id) before \(before ?? "the end")"
    case .held: "held"
    case .made(let title, _): "made \(title)"
    case .done: "done"
    case .failed: "failed"
    case .refused: "refused"
    }
  }
}
