// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
public import StateMachines
internal import Synchronization

/// A private list that exists only in its store. Each operation has its result immediately.
///
/// The repository keeps no list: the store holds it. While the repository exists, it counts the
/// size of the list in a quota.
public final class MemoryTodoRepository: TodoRepository {
  private let quota: TodoQuota?
  /// The part of the quota that is reserved for the list. It is mostly a little larger than the
  /// list, so that the shared counters are not written at each change.
  private let todos = Atomic(0)
  private let bytes = Atomic(0)

  /// Creates a repository.
  ///
  /// - Parameters:
  ///   - quota: The quota that counts the list and gives its limits; nil for no limits.
  ///   - size: The initial size of the list; it is counted even if it exceeds the quota.
  public init(in quota: TodoQuota? = nil, size: TodoSize = TodoSize()) {
    self.quota = quota
    take(size)
  }

  deinit { take(TodoSize()) }

  /// Returns `held`: the list is the one that the store holds.
  public func getTodos(_ held: TodoList) -> Effect<TodoResult> {
    // A list that was restored after a restart can differ from the one that was opened.
    take(held.size)
    return .action(.held)
  }

  /// Returns the result of an operation.
  public func result(of operation: TodoOperation, on held: TodoList) -> TodoResult? {
    switch operation {
    case .remove, .rename: giveBack(beyond: held.size)
    case .add, .complete, .reopen, .move: break
    }
    return Self.result(of: operation)
  }

  /// Performs an operation on the list that the store holds.
  public func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoResult> {
    result(of: operation, on: held).map { .action($0) } ?? .none
  }

  /// Returns the reason to refuse an operation: a limit of the list, or a quota without room.
  public func refusal(of operation: TodoOperation, on held: TodoList) -> InputRefusal? {
    guard let quota else { return nil }
    let most = held.size + operation.mostAdded(to: held, idBytes: TodoSize.mostIDBytes)
    if most.fits(in: taken), most.fits(in: quota.limits.list) { return nil }
    return refusal(of: operation, on: held, in: quota)
  }

  private var taken: TodoSize {
    TodoSize(todos: todos.load(ordering: .relaxed), bytes: bytes.load(ordering: .relaxed))
  }

  /// Reserves the quota that an operation needs, with some more in advance if there is enough.
  ///
  /// - Returns: The reason to refuse the operation; nil if the quota was reserved.
  private func refusal(
    of operation: TodoOperation, on held: TodoList, in quota: TodoQuota
  ) -> InputRefusal? {
    let added = operation.added(to: held, idBytes: held.nextIDBytes)
    let whole = held.size + added
    if let refusal = quota.limits.refusal(of: whole, adding: added, in: .list) { return refusal }
    take(held.size)
    if quota.isEighthFree(adding: added + quota.ahead) {
      take(whole + quota.ahead)
    } else if let refusal = quota.refusal(adding: added) {
      return refusal
    } else {
      take(whole)
    }
    return nil
  }

  /// Releases the quota of a list that has shrunk.
  private func giveBack(beyond size: TodoSize) {
    guard let quota, !taken.fits(in: size + quota.ahead + quota.ahead) else { return }
    take(size + quota.ahead)
  }

  /// Reserves this size instead of the previous one.
  private func take(_ size: TodoSize) {
    guard let quota else { return }
    let difference = TodoSize(
      todos: size.todos - todos.exchange(size.todos, ordering: .relaxed),
      bytes: size.bytes - bytes.exchange(size.bytes, ordering: .relaxed))
    if difference != TodoSize() { quota.add(difference) }
  }

  private static func result(of operation: TodoOperation) -> TodoResult {
    switch operation {
    case .add(let title, let id): .made(title: title, id: id)
    case .remove(let id): .changed(.removeTodo(id: id))
    case .rename(let id, let title): .changed(.renameTodo(id: id, title: title))
    case .complete(let id): .changed(.completeTodo(id: id))
    case .reopen(let id): .changed(.reopenTodo(id: id))
    case .move(let id, let before): .changed(.moveTodo(id: id, before: before))
    }
  }

  /// Returns the list that a store in memory starts with: ids "1" to `count`, titles "Todo 1" and
  /// so on.
  public static func list(count: Int) -> TodoList {
    let todos = (1..<count + 1).map { number in
      let id = String(number)
      return Todo(id: id, title: "Todo " + id)
    }
    return TodoList(KeyedList(todos), size: size(count: count))
  }

  /// Returns the size of the list that a store in memory starts with, without making the list.
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

/// A repository whose operations all fail, for tests.
public final class FailingTodoRepository: TodoRepository {
  /// Creates a repository.
  public init() {}
  /// Returns `failed`.
  public func getTodos(_ held: TodoList) -> Effect<TodoResult> { .action(.failed) }
  /// Returns `failed`.
  public func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoResult> {
    .action(.failed)
  }
}
