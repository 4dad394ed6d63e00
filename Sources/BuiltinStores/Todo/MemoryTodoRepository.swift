// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireProtocol
internal import Synchronization

/// A private list that lives in the store alone and answers at once.
///
/// It keeps nothing itself: the list that the store holds is the list. But it counts, as long as it
/// lives, what that takes up.
public final class MemoryTodoRepository: TodoRepository {
  private let room: TodoRoom?
  /// How many todos of the room are its list's.
  private let counted = Atomic(0)

  /// - Parameters:
  ///   - room: Where its todos are counted; nil: nowhere.
  ///   - count: How many the list begins with; be there room for them or not.
  public init(in room: TodoRoom? = nil, count: Int = 0) {
    self.room = room
    take(count)
  }

  deinit { take(0) }

  public func getTodos(_ held: TodoList) -> Effect<TodoAnswer> {
    // One that comes back after a restart is not the one that was opened.
    take(held.todos.count)
    return .action(.held)
  }

  public func answer(to operation: TodoOperation, on held: TodoList) -> TodoAnswer? {
    take(held.todos.count + Self.added(by: operation, to: held))
    return Self.answer(to: operation)
  }

  public func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoAnswer> {
    answer(to: operation, on: held).map { .action($0) } ?? .none
  }

  public func refusal(of operation: TodoOperation, on held: TodoList) -> InputRefusal? {
    take(held.todos.count)
    return room?.refusal(adding: Self.added(by: operation, to: held))
  }

  /// Takes up as much room as there are todos.
  private func take(_ count: Int) {
    // An exchange is dear where a look is not; most often there is nothing to exchange.
    guard let room, counted.load(ordering: .relaxed) != count else { return }
    let difference = count - counted.exchange(count, ordering: .relaxed)
    if difference != 0 { room.add(difference) }
  }

  /// How many todos an operation adds; what it takes away is counted with the next one.
  private static func added(by operation: TodoOperation, to held: TodoList) -> Int {
    switch operation {
    case .add(_, let id): id.map { held.todos[id: $0] == nil } ?? true ? 1 : 0
    case .remove, .rename, .complete, .reopen, .move: 0
    }
  }

  private static func answer(to operation: TodoOperation) -> TodoAnswer {
    switch operation {
    case .add(let title, let id): .made(title: title, id: id)
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
