// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import EmbeddedStorage
import Foundation
import SQLiteFiles
import SQLiteLedger
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteTodoDatabase

@Suite("Database files that are deleted, moved or replaced while the database is open")
struct MissingFileTests {
  @Test(
    "lists and ledger fail while the file is missing, with one line in the log, then continue",
    arguments: Loss.allCases)
  func database(loss: Loss) async throws {
    try await withFolder { folder in
      let complaints = RecordedFailures()
      let database = EmbeddedDatabase(folder, complaints: complaints)
      let store = try await Host(database.todoLists)
      try await store.send(.load)
      try await store.add("a")
      try await database.ledger.post(amount: #require(DecimalNumber("1")))
      let takeBack = try loss.happen(to: "statewire.sqlite", in: folder)
      try await store.add("b", "c")
      try await store.send(.load)
      #expect(await store.results == ["done", "failed", "failed"])
      #expect(await store.fed == ["list of 0", "add a", "failed"])
      for _ in 0..<2 {
        await expectMissing { try await database.ledger.post(amount: DecimalNumber("1") ?? .zero) }
        await expectMissing { _ = try await database.ledger.readBalance() }
      }
      #expect(complaints.all.count == 1, "\(complaints.all)")
      #expect(complaints.all.first?.contains("\(folder)/statewire.sqlite") == true)
      #expect(complaints.all.first?.contains("move the original file back, or restart") == true)
      if let takeBack {
        try takeBack()
        try await store.send(.load)
        try await store.add("d")
        #expect(await store.todos.map(\.title) == ["a", "d"])
        #expect(await store.results.last == "done")
        #expect(try await database.ledger.readBalance().balance == DecimalNumber("1"))
        #expect(complaints.all.count == 1)
        // Another incident is logged again.
        _ = try Loss.moved.happen(to: "statewire.sqlite", in: folder)
        try await store.add("e")
        #expect(complaints.all.count == 2)
      }
      await store.close()
      await database.close()
    }
  }

  @Test("a feed notices a missing file also without operations")
  func run() async throws {
    try await withFolder { folder in
      let (clock, complaints) = (TestClock(), RecordedFailures())
      let database = EmbeddedDatabase(folder, clock: clock, complaints: complaints)
      let store = try await Host(database.todoLists)
      try await store.send(.load)
      let running = Task { await database.run() }
      _ = try Loss.moved.happen(to: "statewire.sqlite", in: folder)
      while complaints.all.isEmpty {
        await clock.waitForSleeper()
        clock.advance(by: ExternalCommits.pollInterval)
      }
      #expect(complaints.all.first?.contains("was deleted, moved or replaced") == true)
      running.cancel()
      await running.value
      await store.close()
      await database.close()
    }
  }

  @Test("changes that were committed before the log was deleted persist after a restart")
  func closing() async throws {
    try await withFolder { folder in
      let database = EmbeddedDatabase(folder)
      let store = try await Host(database.todoLists)
      try await store.add("a")
      _ = try Loss.logDeleted.happen(to: "statewire.sqlite", in: folder)
      try await store.add("b")
      await store.close()
      await database.close()
      #expect(try await titles(folder) == ["a"])
    }
  }

  private func expectMissing(_ body: () async throws -> Void) async {
    let error = await #expect(throws: StorageError.self) { try await body() }
    #expect(error?.code == .fileMissing)
  }
}
