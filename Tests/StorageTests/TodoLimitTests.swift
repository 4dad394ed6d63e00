// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Sessions
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import StoredTodoLists

@Suite("Limits of shared lists", .serialized, .timeLimit(.minutes(15)))
struct SharedTodoLimitTests {
  private func limits(
    list: TodoSize = TodoSize(todos: 1000, bytes: 100_000),
    database: TodoSize = TodoSize(todos: 1000, bytes: 100_000)
  ) -> TodoLimits {
    var limits = TodoLimits()
    limits.list = list
    limits.database = database
    return limits
  }

  @Test(
    "an operation that makes the list too large is refused, and changes nothing",
    arguments: Implementation.shared)
  func list(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let ids = CountedIDs()
      // Two todos, each with a title and an id of one byte, and ten further bytes.
      let limits = limits(list: TodoSize(todos: 3, bytes: 2 * (TodoSize.bytesPerTodo + 2) + 10))
      let database = place.lists(limits: limits, ids: ids)
      let store = try await Host(database)
      try await store.send(.load)
      try await store.add("a", "b")
      #expect(await store.refused(.add(title: "c")) == "todoBytesPerList")
      #expect(await store.refused(.rename(id: "1", title: "elevenbytes")) == nil)
      #expect(await store.refused(.rename(id: "2", title: "bb")) == "todoBytesPerList")
      // Operations that keep or reduce the size.
      #expect(await store.refused(.rename(id: "2", title: "c")) == nil)
      #expect(await store.refused(.add(title: "again", id: "2")) == nil)
      #expect(await store.refused(.complete(id: "2")) == nil)
      #expect(await store.refused(.remove(id: "1")) == nil)
      #expect(await store.refused(.add(title: "c")) == nil)
      #expect(await store.todos.map(\.title) == ["c", "c"])
      await store.close()
      await database.close()
    }
  }

  @Test(
    "the number of todos is limited, for each list and for the database",
    arguments: Implementation.shared)
  func todos(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let limits = limits(
        list: TodoSize(todos: 2, bytes: 1000), database: TodoSize(todos: 3, bytes: 1000))
      let database = place.lists(limits: limits)
      let (one, other) = (try await Host(database), try await Host(database, list: "other"))
      try await one.add("a", "b")
      #expect(await one.refused(.add(title: "c")) == "todosPerList")
      #expect(await other.refused(.add(title: "a", id: "x")) == nil)
      #expect(await other.refused(.add(title: "b")) == "todosPerDatabase")
      // The refused operation has not created the list.
      let third = try await Host(database, list: "third")
      #expect(await third.refused(.add(title: "b")) == "todosPerDatabase")
      #expect(try await database.version(of: "third") == nil)
      #expect(await other.refused(.remove(id: "x")) == nil)
      #expect(await third.refused(.add(title: "b")) == nil)
      for store in [one, other, third] { await store.close() }
      await database.close()
    }
  }

  @Test(
    "the names of lists count towards the bytes of the database", arguments: Implementation.shared)
  func names(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists(limits: limits(database: TodoSize(todos: 1000, bytes: 2000)))
      var made = 0
      for number in 0..<100 {
        let store = try await Host(database, list: "list \(number)")
        made += await store.refused(.add(title: "a", id: "a")) == nil ? 1 : 0
        try await store.perform(.remove(id: "a"))
        await store.close()
      }
      #expect((50...90).contains(made))
      await database.close()
    }
  }

  @Test(
    "a refusal is part of the state if no request waits for the input",
    arguments: Implementation.shared)
  func refusalInState(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists(limits: limits(list: TodoSize(todos: 1, bytes: 1000)))
      let store = try await Host(database)
      try await store.add("a", "b")
      #expect(await store.results == ["done", "failed", "refused"])
      await store.close()
      await database.close()
    }
  }

  @Test(
    "two processes that add todos at the same time stay within the limit",
    arguments: Implementation.shared)
  func writers(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let limits = limits(list: TodoSize(todos: 50, bytes: 100_000))
      let databases = [1, 2].map { _ in
        place.lists(limits: limits, ids: nil)
      }
      let refused = try await withThrowingTaskGroup(of: Int.self) { group in
        for database in databases {
          let store = try await Host(database)
          group.addTask {
            for number in 0..<40 { try await store.add("\(number)") }
            let refused = await store.results.filter { $0 == "refused" }.count
            await store.close()
            return refused
          }
        }
        return try await group.reduce(0, +)
      }
      // On a busy machine, one process may end before the other begins, and gets no refusal.
      #expect(refused == 30)
      let reader = try await Host(databases[0])
      try await reader.send(.load)
      #expect(await reader.todos.count == 50)
      await reader.close()
      for database in databases { await database.close() }
    }
  }

  @Test(
    "a store that shows the list refuses an input over the limit before it is accepted",
    arguments: Implementation.shared)
  func early(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists(limits: limits(list: TodoSize(todos: 2, bytes: 1000)))
      let machine = TodoStore(repository: database.repository(list: "default"))
      let store = try await Host(machine)
      let add = TodoInput.todoAdded(title: try TodoTitle("a"))
      try await store.send(add)
      try await store.send(add)
      // The store does not know the size of the list yet.
      #expect(machine.refusal(of: add, in: try #require(await store.state)) == nil)
      try await store.send(.stateRequested)
      let state = try #require(await store.state)
      #expect(machine.refusal(of: add, in: state)?.code == .limit("todosPerList"))
      #expect(state.list.size == TodoSize(todos: 2, bytes: 2 * (TodoSize.bytesPerTodo + 2)))
      await store.close()
      await database.close()
    }
  }
}

extension Host where Machine == Probe {
  /// Sends an operation as a request that settles later.
  ///
  /// - Returns: The limit that refuses the operation; nil if it succeeds.
  fileprivate func refused(_ operation: TodoOperation) async -> String? {
    guard let inputID = try? begin(.perform(operation)) else { return "closed" }
    respondsAtEnd(of: inputID)
    guard case .limit(let name)? = await settlement(of: inputID)?.refusal?.code else { return nil }
    return name
  }
}
