// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Sessions
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import StoredTodoLists

@Suite("Todo list in a database", .serialized, .timeLimit(.minutes(15)))
struct TodoOperationTests {
  @Test(
    "the list matches a plain array, through thousands of operations and restarts",
    arguments: Implementation.shared)
  func model(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      var numbers = FixedNumbers(seed: 1)
      let ids = CountedIDs()
      var expected = PlainList()
      for _ in 1...6 {
        let database = place.lists(ids: ids)
        let store = try await Host(database)
        try await store.send(.load)
        #expect(await store.todos == expected.todos)
        for _ in 1...500 {
          let operation = TodoOperation.random(on: expected.todos.map(\.id), using: &numbers)
          expected.perform(operation, newID: ids.next)
          try await store.perform(operation)
          // The operation is completed after its change was delivered, so the test does not wait
          // here.
          #expect(await store.todos == expected.todos, "\(operation)")
        }
        #expect(await store.results == Array(repeating: "done", count: 500))
        await store.close()
        await database.close()
      }
    }
  }

  @Test("a generated id is never one that the list already has", arguments: Implementation.shared)
  func existingIDs(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      for life in 1...3 {
        let database = place.lists(ids: CountedIDs())
        let store = try await Host(database)
        try await store.send(.load)
        for _ in 1...2 { try await store.perform(.add(title: "life \(life)")) }
        #expect(await store.results == ["done", "done"])
        #expect(await store.todos.map(\.id) == (1...(2 * life)).map(String.init))
        await store.close()
        await database.close()
      }
    }
  }

  @Test(
    "an operation may contain the id of a new todo, and an existing id changes nothing",
    arguments: Implementation.shared)
  func broughtIDs(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists(ids: CountedIDs())
      let store = try await Host(database)
      try await store.send(.load)
      for id in ["mine", "mine", nil, "e\u{301}", "é", "mine"] {
        try await store.perform(.add(title: "a", id: id))
      }
      #expect(await store.results == Array(repeating: "done", count: 6))
      let ids = ["mine", "1", "e\u{301}", "é"]
      #expect(await store.todos.map { Array($0.id.utf8) } == ids.map { Array($0.utf8) })
      // Another list may use the same id.
      let other = try await Host(database, list: "other")
      try await other.send(.load)
      try await other.perform(.add(title: "b", id: "mine"))
      #expect(await other.todos == [Todo(id: "mine", title: "b")])
      await store.close()
      await other.close()
      await database.close()
    }
  }

  @Test("random ids are UUIDs of version 4, and are unique")
  func randomIDs() {
    let ids = (0..<1_000).map { _ in RandomUUID.text() }
    #expect(Set(ids).count == ids.count)
    let form = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
    #expect(ids.allSatisfy { $0.wholeMatch(of: form) != nil })
  }

  @Test("the store publishes each operation as one small patch", arguments: Implementation.shared)
  func todoStore(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      let store = try await Host(TodoStore(repository: database.repository(list: "default")))
      try await store.send(.stateRequested)
      try await store.send(.todoAdded(title: TodoTitle("Milk")))
      try await store.send(.todoAdded(title: TodoTitle("Bread")))
      try await store.send(.todoRenamed(id: "1", title: TodoTitle("Oat milk")))
      try await store.send(.todoCompleted(id: "2"))
      try await store.send(.todoReopened(id: "2"))
      try await store.send(.todoMoved(id: "2", before: "1"))
      try await store.send(.todoRemoved(id: "1"))
      let patches = await store.patches.suffix(7)
      #expect(patches.count == 7)
      for patch in patches { #expect(patch.count < 100, "\(patch)") }
      #expect(await store.state?.list.todos == [Todo(id: "2", title: "Bread")])
      await store.close()
      await database.close()
    }
  }

  @Test("an operation without effect writes nothing", arguments: Implementation.shared)
  func nothing(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      let store = try await Host(database)
      try await store.send(.load)
      try await store.perform(.remove(id: "1"))
      try await store.add("a", "b")
      try await store.perform(.complete(id: "1"))
      let fed = await store.fed
      for operation: TodoOperation in [
        .remove(id: "3"), .rename(id: "3", title: "c"), .complete(id: "3"), .reopen(id: "3"),
        .move(id: "3", before: nil), .move(id: "1", before: "3"), .move(id: "3", before: "1"),
        .rename(id: "1", title: "a"), .complete(id: "1"), .reopen(id: "2"),
        .move(id: "1", before: "1"), .move(id: "1", before: "2"), .move(id: "2", before: nil),
      ] {
        try await store.perform(operation)
      }
      #expect(await store.fed == fed)
      #expect(try await database.version(of: "default") == 3)
      #expect(await Set(store.results) == ["done"])
      await store.close()
      await database.close()
    }
  }

  @Test(
    "lists are independent of each other, and their names are compared by bytes",
    arguments: Implementation.shared)
  func names(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      let composed = try await Host(database, list: "caf\u{e9}")
      let decomposed = try await Host(database, list: "cafe\u{301}")
      let cut = try await Host(database, list: "caf\u{e9}\u{0}")
      for store in [composed, decomposed, cut] { try await store.send(.load) }
      try await composed.add("a")
      try await decomposed.add("b", "c")
      #expect(await composed.todos.map(\.title) == ["a"])
      #expect(await decomposed.todos.map(\.title) == ["b", "c"])
      #expect(await cut.todos == [])
      for store in [composed, decomposed, cut] { await store.close() }
      await database.close()
    }
  }

  @Test(
    "a title is stored byte by byte",
    arguments: [
      "\u{0}", "before\u{0}after", "e\u{301}", "\u{e9}", "👩‍👩‍👧", "\u{FFFD}\u{FFFF}\u{10FFFF}",
      "'; DROP TABLE todo; --", "line\nline\r\n\ttab", String(repeating: "ß", count: 2048),
    ], Implementation.shared)
  func titles(title: String, implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      for isNew in [true, false] {
        let database = place.lists()
        let store = try await Host(database)
        if isNew { try await store.add(title) }
        try await store.send(.load)
        #expect(await store.todos.map { Array($0.title.utf8) } == [Array(title.utf8)])
        await store.close()
        await database.close()
      }
    }
  }

  @Test(
    "different encodings of the same characters are different titles and ids",
    arguments: Implementation.shared)
  func bytes(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      let store = try await Host(database)
      try await store.send(.load)
      try await store.add("\u{e9}")
      try await store.perform(.rename(id: "1", title: "e\u{301}"))
      #expect(await store.todos.map { Array($0.title.utf8) } == [[0x65, 0xCC, 0x81]])
      // GRDB would bind this text as "1".
      try await store.perform(.remove(id: "1\u{0}2"))
      #expect(await store.todos.count == 1)
      await store.close()
      await database.close()
    }
  }

  @Test("generated ids are lowercase UUIDs", arguments: Implementation.shared)
  func ids(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists(ids: nil)
      let store = try await Host(database)
      try await store.send(.load)
      try await store.add("a", "b")
      let ids = await store.todos.map(\.id)
      #expect(Set(ids).count == 2)
      for id in ids {
        #expect(id.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
      }
      await store.close()
      await database.close()
    }
  }
}
