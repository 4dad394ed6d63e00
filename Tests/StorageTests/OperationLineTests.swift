// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import StoredTodoLists

@Suite("Order of concurrent operations", .serialized, .timeLimit(.minutes(15)))
struct OperationLineTests {
  /// Each operation runs in a separate task, and tasks can overtake each other.
  @Test("operations are performed in the order of their inputs", arguments: Implementation.shared)
  func order(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      let store = try await Host(TodoStore(repository: database.repository(list: "default")))
      try await store.send(.stateRequested)
      for number in 0..<100 { try await store.begin(.todoAdded(title: TodoTitle("\(number)"))) }
      var last: InputID?
      for round in 0..<100 {
        let id = "\(round + 1)"
        for _ in 0..<5 {
          try await store.begin(.todoCompleted(id: id))
          last = try await store.begin(.todoReopened(id: id))
        }
        if round % 2 == 1 { last = try await store.begin(.todoCompleted(id: id)) }
      }
      await store.settlement(of: try #require(last))
      let todos = try #require(await store.state).list.todos
      #expect(todos.map(\.title) == (0..<100).map { "\($0)" })
      #expect(todos.map(\.completed) == (0..<100).map { $0 % 2 == 1 })
      await store.close()
      await database.close()
    }
  }

  @Test("operations from two stores of one list keep their order", arguments: Implementation.shared)
  func twoStores(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      let shown = try await Host(TodoStore(repository: database.repository(list: "default")))
      let adding = try await Host(
        AddTodoStore(repository: database.repository(list: "default")))
      try await shown.send(.stateRequested)
      for number in 0..<200 {
        let title = try TodoTitle("\(number)")
        if number % 2 == 0 {
          try await shown.begin(.todoAdded(title: title))
        } else {
          try await adding.begin(.addTodo(title: title))
        }
      }
      await shown.until { $0.list.todos.count == 200 }
      #expect(
        try #require(await shown.state).list.todos.map(\.title) == (0..<200).map { "\($0)" })
      await shown.close()
      await adding.close()
      await database.close()
    }
  }

  @Test("an operation that was cancelled or never began does not block later ones")
  func gaps() async throws {
    let line = OperationLine()
    var places = (0..<4).map { _ in OperationPlace(in: line) }
    for place in places { place.take() }
    let last = places.removeLast()
    let cancelled = places.removeLast()
    let waiting = Task { await cancelled.wait() }
    waiting.cancel()
    await waiting.value
    cancelled.leave()
    let done = Task { await last.wait() }
    places[0].leave()
    // Releases a place that no operation uses.
    places.removeAll()
    await done.value
  }
}
