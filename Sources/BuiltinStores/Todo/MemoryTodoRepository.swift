// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireProtocol

/// A private list that lives in the store alone and answers at once.
///
/// It keeps nothing itself: the list that the store holds is the list.
public struct MemoryTodoRepository: TodoRepository {
  public init() {}

  public func getTodos(_ held: TodoList) -> Effect<TodoAnswer> {
    .action(.held)
  }

  public func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoAnswer> {
    .action(answer(to: operation))
  }

  private func answer(to operation: TodoOperation) -> TodoAnswer {
    switch operation {
    case .add(let title): .made(title: title)
    case .remove(let id): .changed(.removeTodo(id: id))
    case .rename(let id, let title): .changed(.renameTodo(id: id, title: title))
    case .complete(let id): .changed(.completeTodo(id: id))
    case .reopen(let id): .changed(.reopenTodo(id: id))
    case .move(let id, let before): .changed(.moveTodo(id: id, before: before))
    }
  }

  /// The list that a memory store starts with: ids "1" to the count, titles "Todo 1" and so on.
  public static func list(count: Int) -> TodoList {
    let numbers = 1..<count + 1
    return TodoList(KeyedList(numbers.lazy.map { Todo(id: "\($0)", title: "Todo \($0)") }))
  }
}

/// A repository where everything fails, for tests of unhappy paths.
public struct FailingTodoRepository: TodoRepository {
  public init() {}
  public func getTodos(_ held: TodoList) -> Effect<TodoAnswer> { .action(.failed) }
  public func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoAnswer> {
    .action(.failed)
  }
}
