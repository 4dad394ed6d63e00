// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import EmbeddedStorage
import SQLiteLedger
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteTodoDatabase

@Suite("Lists and ledger in one file")
struct EmbeddedDatabaseTests {
  @Test("the ledger is added to a database that has only lists, and does not change them")
  func migration() async throws {
    let amount = try #require(DecimalNumber("2.5"))
    try await withFolder { folder in
      let old = EmbeddedDatabase(folder)
      let store = try await Host(old.todoLists)
      try await store.add("a", "b")
      await store.close()
      try await old.todoLists.file.execute(
        "DROP TABLE ledgerEntry; DELETE FROM grdb_migrations WHERE identifier = 'ledger'")
      await old.close()
      let database = EmbeddedDatabase(folder)
      try await database.ledger.post(amount: amount)
      #expect(try await database.ledger.readBalance().balance == amount)
      let other = try await Host(database.todoLists)
      try await other.send(.load)
      #expect(await other.todos.map(\.title) == ["a", "b"])
      await other.close()
      await database.close()
    }
  }
}
