// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Makes the lists that stores in memory begin with.
///
/// Those that begin with as many todos as the one before get the same, and share with it what they do
/// not change: thousands of stores are to cost little each.
public final class SeededLists: Sendable {
  // The latest one, which is kept for as long as the server runs.
  private let latest = Lock(TodoList())

  public init() {}

  /// The list with ids "1" to the count, titles "Todo 1" and so on.
  public func list(count: Int) -> TodoList {
    guard count <= Self.mostKept else { return MemoryTodoRepository.list(count: count) }
    return latest.withLock { latest in
      if latest.todos.count != count { latest = MemoryTodoRepository.list(count: count) }
      return latest
    }
  }

  private static var mostKept: Int { 100_000 }
}
