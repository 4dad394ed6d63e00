// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireProtocol

/// A private list that lives in the store alone and answers at once.
///
/// It keeps nothing itself: the list that the store holds is the list.
public struct MemoryTodoRepository: TodoRepository {
  public init() {}

  public func getTodos(_ held: TodoList) -> Effect<TodoAnswer> {
    .action(.todos(held.todos))
  }

  public func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoAnswer> {
    .action(.changed(change(operation, held)))
  }

  private func change(_ operation: TodoOperation, _ held: TodoList) -> TodoChange {
    switch operation {
    case .add(let title): .addTodo(Todo(id: nextID(held), title: title))
    case .remove(let id): .removeTodo(id: id)
    case .rename(let id, let title): .renameTodo(id: id, title: title)
    case .complete(let id): .completeTodo(id: id)
    case .reopen(let id): .reopenTodo(id: id)
    case .move(let id, let before): .moveTodo(id: id, before: before)
    }
  }

  /// The number of the todo among all that the list has had, unless `todosUpdated` brought it along.
  private func nextID(_ held: TodoList) -> String {
    var number = held.made + 1
    while held.todos.contains(id: String(number)) { number += 1 }
    return String(number)
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
