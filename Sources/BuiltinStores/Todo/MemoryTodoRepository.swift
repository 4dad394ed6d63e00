// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
public import StateMachines
internal import Synchronization

/// A private list that lives in the store alone and answers at once.
///
/// It keeps nothing itself: the list that the store holds is the list. But it counts, as long as it
/// lives, what that takes up.
public final class MemoryTodoRepository: TodoRepository {
  private let room: TodoRoom?
  /// How much of the room is taken for its list: most often a little more than the list, so that what others share
  /// is not written at each change.
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
    switch operation {
    case .remove, .rename: giveBack(beyond: held.size)
    case .add, .complete, .reopen, .move: break
    }
    return Self.answer(to: operation)
  }

  public func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoAnswer> {
    answer(to: operation, on: held).map { .action($0) } ?? .none
  }

  public func refusal(of operation: TodoOperation, on held: TodoList) -> InputRefusal? {
    guard let room else { return nil }
    let most = held.size + operation.mostAdded(to: held, idBytes: TodoSize.mostIDBytes)
    if most.fits(in: taken), most.fits(in: room.limits.list) { return nil }
    return refusal(of: operation, on: held, in: room)
  }

  private var taken: TodoSize {
    TodoSize(todos: todos.load(ordering: .relaxed), bytes: bytes.load(ordering: .relaxed))
  }

  /// Takes the room that an operation needs, and what is taken ahead where there is that much.
  private func refusal(
    of operation: TodoOperation, on held: TodoList, in room: TodoRoom
  ) -> InputRefusal? {
    let added = operation.added(to: held, idBytes: held.nextIDBytes)
    let whole = held.size + added
    if let refusal = room.limits.refusal(of: whole, adding: added, in: .list) { return refusal }
    take(held.size)
    if room.isEighthFree(adding: added + room.ahead) {
      take(whole + room.ahead)
    } else if let refusal = room.refusal(adding: added) {
      return refusal
    } else {
      take(whole)
    }
    return nil
  }

  /// Gives back what is taken for a list that has shrunk.
  private func giveBack(beyond size: TodoSize) {
    guard let room, !taken.fits(in: size + room.ahead + room.ahead) else { return }
    take(size + room.ahead)
  }

  /// Takes so much of the room in place of what was taken.
  private func take(_ size: TodoSize) {
    guard let room else { return }
    let difference = TodoSize(
      todos: size.todos - todos.exchange(size.todos, ordering: .relaxed),
      bytes: size.bytes - bytes.exchange(size.bytes, ordering: .relaxed))
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
