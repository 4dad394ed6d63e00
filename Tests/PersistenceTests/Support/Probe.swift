// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import StateMachines
import StatewireProtocol

@testable import Persistence

/// A store that writes down what its repository answers, and folds what its feed gives.
struct Probe: StateMachine {
  enum Input: Sendable {
    case load
    case perform(TodoOperation)
  }

  enum Action: Sendable {
    case fed(TodoAnswer)
    case answered(TodoAnswer)
  }

  struct State: Sendable {
    var fed: [TodoAnswer] = []
    var answers: [TodoAnswer] = []
    /// The list that the feed leads to.
    var list = PlainList()
  }

  let initialState = State()
  let repository: SQLiteTodoRepository

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .load:
      repository.getTodos(TodoList()).compactMap { .fed($0) }
    case .perform(let operation):
      repository.perform(operation, on: TodoList()).compactMap { .answered($0) }
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .fed(let answer):
      state.fed.append(answer)
      switch answer {
      case .todos(let list): state.list.todos = Array(list.todos)
      case .changed(let change): state.list.apply(change)
      case .held, .made, .done, .failed, .refused: break
      }
    case .answered(let answer):
      state.answers.append(answer)
    }
  }

  func view(of state: State) -> Int { state.fed.count + state.answers.count }
}

extension Probe.Input: Decodable {
  init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "sent by tests only"))
  }
}

extension Host where Machine == Probe {
  init(_ database: EmbeddedDatabase, list: String = "default") async throws {
    try await self.init(Probe(repository: database.todoRepository(list: list)))
  }

  /// What the feed has given, in short: the size of a whole list, the change.
  var fed: [String] { (state?.fed ?? []).map(\.short) }
  var answers: [String] { (state?.answers ?? []).map(\.short) }
  var todos: [Todo] { state?.list.todos ?? [] }

  func perform(_ operation: TodoOperation) async throws { try await send(.perform(operation)) }

  func add(_ titles: String...) async throws {
    for title in titles { try await perform(.add(title: title)) }
  }
}

extension TodoAnswer {
  var short: String {
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
