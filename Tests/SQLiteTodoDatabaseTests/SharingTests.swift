// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import SQLiteFiles
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteTodoDatabase

/// Two databases on one folder simulate two processes: they share only the files.
@Suite("Several processes with one folder")
struct SharingTests {
  @Test("a process notices changes by another at its next poll, as single changes")
  func looks() async throws {
    try await withFolder { folder in
      let (clock, ids) = (TestClock(), CountedIDs())
      let (here, there) = (
        TodoDatabase(folder, clock: clock, ids: ids), TodoDatabase(folder, ids: ids)
      )
      let (mine, other) = (try await Host(here), try await Host(there))
      try await mine.send(.load)
      try await here.whileRunning {
        await clock.waitForSleeper()
        try await other.add("a", "b")
        #expect(await mine.fed == ["list of 0"])
        clock.advance(by: ExternalCommits.pollInterval)
        await mine.until { $0.fed.count == 3 }
        // A second time, when the version to compare with is known.
        await clock.waitForSleeper()
        try await other.perform(.complete(id: "1"))
        clock.advance(by: ExternalCommits.pollInterval)
        await mine.until { $0.fed.count == 4 }
      }
      #expect(await mine.fed == ["list of 0", "add a", "add b", "complete 1"])
      for store in [mine, other] { await store.close() }
      for database in [here, there] { await database.close() }
    }
  }

  @Test("the database polls four times a second")
  func interval() {
    #expect(ExternalCommits.pollInterval == .milliseconds(250))
  }

  @Test("the database does not poll without feeds, and `run` ends when it is cancelled")
  func idle() async throws {
    try await withFolder { folder in
      let clock = TestClock()
      let database = TodoDatabase(folder, clock: clock)
      try await database.whileRunning {
        let store = try await Host(database)
        try await store.add("a")
        #expect(clock.sleeperCount == 0)
        try await store.send(.load)
        await clock.waitForSleeper()
        await store.close()
        clock.advance(by: ExternalCommits.pollInterval)
      }
      #expect(clock.sleeperCount == 0)
      await database.close()
    }
  }

  @Test("an operation also delivers changes by another process, without a poll")
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
      // The operation changes nothing, but it is completed only after the feed has delivered the
      // other change.
      try await mine.perform(.remove(id: "2"))
      #expect(await mine.fed == ["list of 0", "add a", "add b", "remove 2"])
      for store in [mine, other] { await store.close() }
      for database in [here, there] { await database.close() }
    }
  }
}

extension TodoDatabase {
  /// Calls `body` while the database polls for changes by other processes.
  fileprivate func whileRunning(_ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { await self.run() }
      try await body()
      group.cancelAll()
    }
  }
}
