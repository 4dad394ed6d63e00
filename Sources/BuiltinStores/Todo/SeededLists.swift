// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// A factory for the lists that stores in memory start with.
///
/// Stores that start with the same number of todos one after the other get the same list and share
/// the parts that they do not change, so that thousands of stores take little memory.
public final class SeededLists: Sendable {
  private struct Latest {
    /// The latest list that is shared; kept while the server runs.
    var list = TodoList()
    /// The number of todos of the latest long list.
    var largeCount = 0
    /// The long lists that were made in advance, by their number of todos.
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

  /// Creates a factory.
  public init() {}

  /// Returns the list with ids "1" to `count`, titles "Todo 1" and so on.
  public func list(count: Int) -> TodoList {
    latest.withLock { latest in
      if latest.list.size.todos == count { return latest.list }
      let list = latest.prepared[count]?.list?.list ?? MemoryTodoRepository.list(count: count)
      // A long list is shared from its second use on, because a shared list costs time at each
      // change.
      if count <= Self.smallCount || latest.largeCount == count { latest.list = list }
      if count > Self.smallCount { latest.largeCount = count }
      return list
    }
  }

  /// Returns work for another thread that makes a long list; nil if the list is short or exists
  /// already.
  ///
  /// `list(count:)` uses the list of the work while the result of the work is retained.
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
  /// The number of todos that can be made in about a millisecond.
  private static var quickCount: Int { 2000 }
}
