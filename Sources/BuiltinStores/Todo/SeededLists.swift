// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Makes the lists that stores in memory begin with.
///
/// Those that begin with as many todos as the one before get the same, and share with it what they do
/// not change: thousands of stores are to cost little each.
public final class SeededLists: Sendable {
  private struct Latest {
    /// Kept for as long as the server runs.
    var list = TodoList()
    /// How many todos a large one had that was made last.
    var largeCount = 0
    /// Large ones that were made before they are wanted, by how many todos they have.
    var prepared: [Int: Prepared] = [:]
  }

  private struct Prepared {
    weak var list: PreparedList?
  }

  private final class PreparedList: Sendable {
    let list: TodoList
    init(_ list: TodoList) { self.list = list }
  }

  private let latest = Lock(Latest())

  public init() {}

  /// The list with ids "1" to the count, titles "Todo 1" and so on.
  public func list(count: Int) -> TodoList {
    latest.withLock { latest in
      if latest.list.size.todos == count { return latest.list }
      let list = latest.prepared[count]?.list?.list ?? MemoryTodoRepository.list(count: count)
      // A large one is shared from its second time on: what is shared costs something at each change.
      if count <= Self.smallCount || latest.largeCount == count { latest.list = list }
      if count > Self.smallCount { latest.largeCount = count }
      return list
    }
  }

  /// Work for another thread that makes a long list. `list` uses that list while the result of the work is kept; nil if
  /// the list is short.
  public func preparation(count: Int) -> (@Sendable () -> any Sendable)? {
    guard count > Self.quickCount, latest.withLock({ $0.list.size.todos != count }) else {
      return nil
    }
    return {
      let prepared = PreparedList(MemoryTodoRepository.list(count: count))
      self.latest.withLock { latest in
        latest.prepared = latest.prepared.filter { $0.value.list != nil }
        latest.prepared[count] = Prepared(list: prepared)
      }
      return prepared
    }
  }

  private static var smallCount: Int { 256 }
  /// A millisecond.
  private static var quickCount: Int { 2000 }
}
