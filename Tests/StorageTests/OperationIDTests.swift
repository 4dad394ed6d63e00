// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import StoredTodoLists

@Suite("Repeated operations", .serialized, .timeLimit(.minutes(15)))
struct OperationIDTests {
  @Test(
    "an operation is performed once for each id, also across processes",
    arguments: Implementation.shared)
  func once(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let id = OperationID(scope: "session/todos", epoch: 1, number: 7)
      let other = OperationID(scope: "session/todos", epoch: 1, number: 8)
      let ids = CountedIDs()
      let list = ByteString("default")
      for _ in 0..<2 {
        let database = place.lists(ids: ids)
        let version = try await database.storage.perform(
          .add(title: "a"), on: list, once: id, at: nil)
        #expect(
          try await database.storage.perform(.add(title: "a"), on: list, once: id, at: nil)
            == version)
        #expect(try await database.version(of: "default") ?? 0 >= 1)
        await database.close()
      }
      let database = place.lists(ids: ids)
      #expect(try await database.version(of: "default") == 1)
      _ = try await database.storage.perform(.add(title: "a"), on: list, once: other, at: nil)
      _ = try await database.storage.perform(.add(title: "a"), on: list, once: nil, at: nil)
      _ = try await database.storage.perform(.add(title: "a"), on: list, once: nil, at: nil)
      #expect(try await database.version(of: "default") == 4)
      await database.close()
    }
  }
}
