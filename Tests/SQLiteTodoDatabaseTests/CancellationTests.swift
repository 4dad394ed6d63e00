// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Sessions
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteTodoDatabase
@testable import StoredTodoLists

@Suite("Cancelled operations")
struct CancellationTests {
  @Test("an operation that is cancelled before its transaction writes nothing")
  func waiting() async throws {
    try await withFolder { folder in
      let database = TodoDatabase(folder)
      let store = try await Host(database)
      try await store.send(.load)
      try await database.file.whileWriting {
        let inputID = try await store.begin(.perform(.add(title: "cancelled")))
        await store.cancel(inputID)
      }
      try await store.add("a")
      #expect(await store.fed == ["list of 0", "add a"])
      #expect(await store.results == ["done"])
      await store.close()
      #expect(try await database.version(of: "default") == 1)
      await database.close()
    }
  }
}
