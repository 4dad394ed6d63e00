// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteTodoDatabase

/// Two databases on one folder stand for two processes: they share nothing but the files.
@Suite("Several processes on one folder")
struct SharingTests {
  @Test("notice each other's changes at the next look, as single changes")
  func looks() async throws {
    try await withFolder { folder in
      let (clock, ids) = (TestClock(), CountedIDs())
      let (here, there) = (
        TodoDatabase(folder, clock: clock, ids: ids), TodoDatabase(folder, ids: ids)
      )
      let (mine, other) = (try await Host(here), try await Host(there))
      try await mine.send(.load)
      try await here.whileRunning {
        await clock.untilSomebodySleeps()
        try await other.add("a", "b")
        #expect(await mine.fed == ["list of 0"])
        clock.advance(by: TodoDatabase.pollInterval)
        await mine.until { $0.fed.count == 3 }
        // Once more, now that the number to compare with is known.
        await clock.untilSomebodySleeps()
        try await other.perform(.complete(id: "1"))
        clock.advance(by: TodoDatabase.pollInterval)
        await mine.until { $0.fed.count == 4 }
      }
      #expect(await mine.fed == ["list of 0", "add a", "add b", "complete 1"])
      for store in [mine, other] { await store.close() }
      for database in [here, there] { await database.close() }
    }
  }

  @Test("look four times a second")
  func interval() {
    #expect(TodoDatabase.pollInterval == .milliseconds(250))
  }

  @Test("do not look while nobody listens, and end when they are told to")
  func idle() async throws {
    try await withFolder { folder in
      let clock = TestClock()
      let database = TodoDatabase(folder, clock: clock)
      try await database.whileRunning {
        let store = try await Host(database)
        try await store.add("a")
        #expect(clock.sleeperCount == 0)
        try await store.send(.load)
        await clock.untilSomebodySleeps()
        await store.close()
        clock.advance(by: TodoDatabase.pollInterval)
      }
      #expect(clock.sleeperCount == 0)
      await database.close()
    }
  }

  @Test("learn of each other's changes with their own operations, without a look")
  func operations() async throws {
    try await withFolder { folder in
      let ids = CountedIDs()
      let (here, there) = (TodoDatabase(folder, ids: ids), TodoDatabase(folder, ids: ids))
      let (mine, other) = (try await Host(here), try await Host(there))
      try await mine.send(.load)
      try await other.add("a")
      try await mine.add("b")
      #expect(await mine.fed == ["list of 0", "add a", "add b"])
      try await other.perform(.remove(id: "2"))
      // Nothing to do here any more; the answer still comes after what it has seen.
      try await mine.perform(.remove(id: "2"))
      #expect(await mine.fed == ["list of 0", "add a", "add b", "remove 2"])
      for store in [mine, other] { await store.close() }
      for database in [here, there] { await database.close() }
    }
  }
}

extension TodoDatabase {
  /// Calls `body` while the database looks for changes by others.
  fileprivate func whileRunning(_ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { await self.run() }
      try await body()
      group.cancelAll()
    }
  }
}
