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
  /// How much of the room its list takes.
  private let todos = Atomic(0)
  private let bytes = Atomic(0)

  /// - Parameters:
  ///   - room: Where its list is counted, and whose limits it has; nil: nowhere, and none.
  ///   - size: What the list begins with; be there room for it or not.
  public init(in room: TodoRoom? = nil, size: TodoSize = TodoSize()) {
    self.room = room
    take(size)
  }

  deinit { take(TodoSize()) }

  public func getTodos(_ held: TodoList) -> Effect<TodoAnswer> {
    // One that comes back after a restart is not the one that was opened.
    take(held.size)
    return .action(.held)
  }

  public func answer(to operation: TodoOperation, on held: TodoList) -> TodoAnswer? {
    if room != nil {
      // What the operation takes away is counted with the next one.
      take(held.size + operation.mostAdded(to: held, idBytes: held.nextIDBytes))
    }
    return Self.answer(to: operation)
  }

  public func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoAnswer> {
    answer(to: operation, on: held).map { .action($0) } ?? .none
  }

  public func refusal(of operation: TodoOperation, on held: TodoList) -> InputRefusal? {
    guard let room else { return nil }
    // What is counted is no less than what the list takes, so most often that needs no second look.
    let most = operation.mostAdded(to: held, idBytes: held.nextIDBytes)
    guard room.refusal(to: held.size, adding: most) != nil else { return nil }
    take(held.size)
    return room.refusal(
      to: held.size, adding: operation.added(to: held, idBytes: held.nextIDBytes))
  }

  /// Takes up as much room as a list does.
  private func take(_ size: TodoSize) {
    guard let room else { return }
    // An exchange is dear where a look is not; most often there is nothing to exchange.
    var difference = TodoSize()
    if todos.load(ordering: .relaxed) != size.todos {
      difference.todos = size.todos - todos.exchange(size.todos, ordering: .relaxed)
    }
    if bytes.load(ordering: .relaxed) != size.bytes {
      difference.bytes = size.bytes - bytes.exchange(size.bytes, ordering: .relaxed)
    }
    if difference != TodoSize() { room.add(difference) }
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
    return TodoList(
      KeyedList(numbers.lazy.map { Todo(id: "\($0)", title: "Todo \($0)") }),
      size: size(count: count))
  }

  /// The size of the list that a memory store starts with, without a look at it.
  public static func size(count: Int) -> TodoSize {
    var (digits, first, length) = (0, 1, 1)
    while first <= count {
      digits += (min(count, first * 10 - 1) - first + 1) * length
      first *= 10
      length += 1
    }
    let rest = "Todo ".utf8.count + TodoSize.bytesPerTodo
    return TodoSize(todos: count, bytes: 2 * digits + count * rest)
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
