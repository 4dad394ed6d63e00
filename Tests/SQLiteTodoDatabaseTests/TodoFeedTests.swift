// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import SQLiteFiles
import Sessions
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteTodoDatabase
@testable import StoredTodoLists

@Suite("Feed of a todo list")
struct TodoFeedTests {
  @Test("late, repeated, reordered and missing notifications do not affect the feed")
  func unreliableNews() async throws {
    try await withFolder { folder in
      let database = TodoDatabase(folder)
      let (one, other) = (try await Host(database), try await Host(database, list: "unheard"))
      try await one.send(.load)
      try await one.add("a", "b")
      let list = ByteString("default")
      let bogus = TodoChange.addTodo(Todo(id: "bogus", title: "bogus"))
      database.listeners.notify(list, ListNotification(version: 1, change: bogus))
      database.listeners.notify(list, ListNotification(version: 2, change: bogus))
      // A version that does not exist. The contents of the database count.
      database.listeners.notify(list, ListNotification(version: 9, change: bogus))
      database.listeners.notify(list, ListNotification(version: 9))
      try await one.add("c")
      // A version without a notification.
      try await database.addSilently("d", to: "default")
      try await one.add("e")
      #expect(await one.fed == ["list of 0", "add a", "add b", "add c", "add d", "add e"])
      for store in [one, other] { await store.close() }
      await database.close()
    }
  }

  @Test("a feed that is behind the change log delivers the whole list again")
  func trimmedLog() async throws {
    try await withFolder { folder in
      let database = TodoDatabase(folder, logLength: 8)
      let store = try await Host(database)
      try await store.send(.load)
      for number in 1...8 { try await database.addSilently("\(number)", to: "default") }
      try await store.add("within the log")
      for number in 1...20 { try await database.addSilently("\(number)", to: "default") }
      try await store.add("beyond the log")
      try await store.add("after it")
      #expect(
        await store.fed == ["list of 0"] + (1...8).map { "add \($0)" }
          + ["add within the log", "list of 30", "add after it"])
      #expect(try await database.logLength(of: "default") <= 10)
      await store.close()
      await database.close()
    }
  }

  // Each store had a separate copy of its list: 100 sessions that show 30,000 todos took 0.8 GB.
  @Test("a load reuses the list of an earlier load, with the changes since then")
  func sharedList() async throws {
    try await withFolder { folder in
      let database = TodoDatabase(folder, logLength: 8)
      let (one, other, third) = (
        try await Host(database), try await Host(database), try await Host(database)
      )
      try await one.add("a", "b", "c")
      try await one.send(.load)
      // The change log does not contain this change, so only a new read of the rows shows it.
      try await database.file.execute("UPDATE todo SET title = x'78' WHERE id = x'31'")
      try await one.perform(.move(id: "3", before: "1"))
      try await one.perform(.rename(id: "2", title: "d"))
      try await database.addSilently("e", to: "default")
      try await other.send(.load)
      #expect(await other.todos.map(\.title) == ["c", "a", "d", "e"])
      #expect(await one.todos.map(\.title) == ["c", "a", "d"])
      // Beyond the change log, the list is read again from the rows. It is released when no feed
      // exists.
      for number in 1...20 { try await database.addSilently("\(number)", to: "default") }
      try await third.send(.load)
      #expect(await third.todos.prefix(4).map(\.title) == ["c", "x", "d", "e"])
      for store in [one, other, third] { await store.close() }
      #expect(database.listeners.lastRead(ByteString("default")) == nil)
      await database.close()
    }
  }

  @Test("the list is read again after the file was replaced by an older version")
  func putBack() async throws {
    try await withFolder { folder in
      let database = TodoDatabase(folder)
      var stores: [Host<Probe>] = []
      func load() async throws -> [String] {
        let store = try await Host(database)
        stores.append(store)
        try await store.send(.load)
        return await store.todos.map(\.title)
      }
      for title in ["a", "b", "c", "d", "e"] {
        try await database.addSilently(title, to: "default")
      }
      #expect(try await load() == ["a", "b", "c", "d", "e"])
      try await database.file.execute(
        """
        DELETE FROM todo WHERE title IN (x'64', x'65');
        DELETE FROM todoChange WHERE version > 3;
        UPDATE todoList SET version = 3
        """)
      #expect(try await load() == ["a", "b", "c"])
      for title in ["x", "y"] { try await database.addSilently(title, to: "default") }
      #expect(try await load() == ["a", "b", "c", "x", "y"])
      for store in stores { await store.close() }
      await database.close()
    }
  }

  @Test("a change log with an unknown operation makes the feed deliver the whole list")
  func unknownOperation() async throws {
    try await withFolder { folder in
      let database = TodoDatabase(folder)
      let store = try await Host(database)
      try await store.send(.load)
      try await database.addSilently("a", to: "default")
      try await database.file.execute("UPDATE todoChange SET operation = 'fly'")
      try await store.add("b")
      #expect(await store.fed == ["list of 0", "list of 2"])
      await store.close()
      await database.close()
    }
  }

  @Test(
    "a list whose number of changes is impossible is reported as damage", arguments: [-1, Int.max])
  func impossibleVersion(_ version: Int) async throws {
    try await withFolder { folder in
      let database = TodoDatabase(folder)
      try await database.addSilently("a", to: "default")
      try await database.file.execute("UPDATE todoList SET version = \(version)")
      let error = await #expect(throws: StorageError.self) {
        try await database.addSilently("b", to: "default")
      }
      #expect(error?.code == .notADatabase)
      await database.close()
    }
  }

  @Test("a feed ends when the database fails, and the next load begins another feed")
  func failure() async throws {
    try await withFolder { folder in
      let complaints = RecordedFailures()
      let database = TodoDatabase(folder, complaints: complaints)
      let store = try await Host(database)
      try await store.send(.load)
      try await store.add("a")
      try await database.file.execute("ALTER TABLE todoChange RENAME TO renamed")
      try await store.add("a secret")
      #expect(await store.results == ["done", "failed"])
      database.listeners.notify(ByteString("default"), ListNotification(version: 9))
      await store.until { $0.fed.count == 3 }
      // There is no feed, so the operation does not wait for the delivery of its change.
      try await database.file.execute("ALTER TABLE renamed RENAME TO todoChange")
      try await store.add("b")
      try await store.send(.load)
      try await store.add("c")
      #expect(await store.fed == ["list of 0", "add a", "failed", "list of 2", "add c"])
      #expect(complaints.all.count == 2)
      #expect(complaints.all.allSatisfy { !$0.contains("secret") })
      await store.close()
      await database.close()
    }
  }

  @Test("a full queue keeps the newest notifications, so that a slow store catches up")
  func slowStore() async throws {
    let listeners = ListListeners()
    let (_, news) = listeners.listen(to: ByteString("default"))
    for version in 1...1000 {
      listeners.notify(ByteString("default"), ListNotification(version: ListVersion(version)))
    }
    listeners.close()
    var versions: [ListVersion] = []
    for await item in news { versions.append(item.version) }
    #expect(versions == Array(937...1000))
  }
}
