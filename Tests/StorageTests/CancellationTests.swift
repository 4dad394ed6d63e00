// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Sessions
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import StoredTodoLists

@Suite("Cancelled operations", .serialized, .timeLimit(.minutes(15)))
struct CancellationTests {
  @Test(
    "an operation that is cancelled at any moment is written completely or not at all",
    arguments: Implementation.shared)
  func anyMoment(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      let store = try await Host(database)
      try await store.send(.load)
      var numbers = FixedNumbers(seed: 2)
      for number in 1...200 {
        let inputID = try await store.begin(.perform(.add(title: "\(number)")))
        for _ in 0..<Int.random(in: 0..<40, using: &numbers) { await Task.yield() }
        await store.cancel(inputID)
      }
      try await store.add("last")
      let other = try await Host(database)
      try await other.send(.load)
      #expect(await store.todos == other.todos)
      #expect(await store.todos.last?.title == "last")
      #expect(try await database.version(of: "default") == ListVersion(store.todos.count))
      for store in [store, other] { await store.close() }
      await database.close()
    }
  }
}
