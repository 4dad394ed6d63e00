// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteTodoDatabase

@Suite("Repeated operations")
struct OperationIDTests {
  @Test("an operation is performed once for each id, also across processes")
  func once() async throws {
    try await withFolder { folder in
      let id = OperationID(scope: "session/todos", epoch: 1, number: 7)
      let other = OperationID(scope: "session/todos", epoch: 1, number: 8)
      let ids = CountedIDs()
      for _ in 0..<2 {
        let database = TodoDatabase(folder, ids: ids)
        let repository = database.repository(list: "default")
        let version = try await repository.commit(.add(title: "a"), once: id)
        #expect(try await repository.commit(.add(title: "a"), once: id) == version)
        #expect(try await database.version(of: "default") ?? 0 >= 1)
        await database.close()
      }
      let database = TodoDatabase(folder, ids: ids)
      let repository = database.repository(list: "default")
      #expect(try await database.version(of: "default") == 1)
      _ = try await repository.commit(.add(title: "a"), once: other)
      _ = try await repository.commit(.add(title: "a"), once: nil)
      _ = try await repository.commit(.add(title: "a"), once: nil)
      #expect(try await database.version(of: "default") == 4)
      await database.close()
    }
  }
}
