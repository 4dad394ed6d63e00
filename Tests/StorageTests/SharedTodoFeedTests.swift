// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Sessions
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import StoredTodoLists

@Suite("Feed of a shared todo list", .serialized, .timeLimit(.minutes(15)))
struct SharedTodoFeedTests {
  @Test("each store receives the list once, then each change", arguments: Implementation.shared)
  func twoStores(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      let (one, other) = (try await Host(database), try await Host(database))
      try await one.add("a")
      try await one.send(.load)
      try await other.send(.load)
      try await one.add("b")
      try await other.perform(.complete(id: "1"))
      try await one.perform(.move(id: "2", before: "1"))
      let expected = ["list of 1", "add b", "complete 1", "move 2 before 1"]
      await one.until { $0.fed.count == 4 }
      await other.until { $0.fed.count == 4 }
      #expect(await one.fed == expected)
      #expect(await other.fed == expected)
      for store in [one, other] { await store.close() }
      await database.close()
    }
  }

  @Test("a change during the load of the list is delivered once", arguments: Implementation.shared)
  func addWhileLoading(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      for round in 1...100 {
        let (one, other) = (
          try await Host(database, list: "\(round)"), try await Host(database, list: "\(round)")
        )
        try await other.add("a", "b")
        // Concurrently, so that the order of their transactions is random.
        let load = try await one.begin(.load)
        async let mine: Void = one.add("c")
        async let others: Void = other.add("d", "e")
        _ = try await (mine, others)
        await one.settlement(of: load)
        await one.until { $0.list.todos.count == 5 }
        #expect(await Set(one.todos.map(\.title)) == ["a", "b", "c", "d", "e"])
        #expect(await one.fed.count { $0.hasPrefix("list") } == 1)
        try await other.send(.load)
        #expect(await one.todos == other.todos)
        for store in [one, other] { await store.close() }
      }
      await database.close()
    }
  }

  @Test("a list that was read before a later change is not shown after it")
  func changeWhileReloading() async throws {
    try await withFolder { folder in
      let database = Place.folder(folder).lists()
      let reads = HeldReads(database.storage)
      let store = try await Host(OpenLists(storage: reads) {})
      try await store.add("a")
      try await store.send(.load)
      let gate = Gate()
      reads.hold(at: gate)
      let reload = try await store.begin(.load)
      // The list was read; the older feed delivers a change before the newer one delivers the list.
      try await gate.holds(1)
      let other = try await Host(database)
      try await other.add("b")
      await store.until { $0.list.todos.count == 2 }
      gate.open()
      await store.settlement(of: reload)
      try await store.add("c")
      #expect(await store.fed == ["list of 1", "add b", "list of 2", "add c"])
      for store in [store, other] { await store.close() }
      await database.close()
    }
  }

  @Test(
    "all stores receive the same list and changes, whenever their load begins", arguments: 1...10,
    Implementation.shared)
  func sharedAndChanged(seed: UInt64, implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      var numbers = FixedNumbers(seed: seed)
      let ids = CountedIDs()
      // Two databases, which simulate two processes. Stores of one process share the list.
      let (database, elsewhere) = (
        place.lists(logLength: 16, ids: ids),
        place.lists(logLength: 16, ids: ids)
      )
      var stores: [Host<Probe>] = []
      let writer = try await Host(elsewhere)
      for count in 1...200 {
        let some = String(Int.random(in: 1...count, using: &numbers))
        let id = String(Int.random(in: 1...count, using: &numbers))
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0: try await writer.perform(.remove(id: id))
        case 1: try await writer.perform(.move(id: id, before: some))
        case 2: try await writer.perform(.rename(id: id, title: "renamed \(count)"))
        case 3: try await writer.perform(.complete(id: id))
        default: try await writer.add("todo \(count)")
        }
        if count.isMultiple(of: 7) {
          stores.append(try await Host(database))
          try await stores.last?.send(.load)
        }
      }
      let fresh = place.lists(ids: ids)
      let reader = try await Host(fresh)
      try await reader.send(.load)
      let expected = await reader.todos
      for store in stores {
        // The next operation of a store delivers the changes that it lacks.
        try await store.perform(.remove(id: "unknown"))
        #expect(await store.todos == expected)
        await store.close()
      }
      for store in [writer, reader] { await store.close() }
      for database in [database, elsewhere, fresh] { await database.close() }
    }
  }

  @Test(
    "a second load replaces the feed, and begins with the list", arguments: Implementation.shared)
  func reload(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      let store = try await Host(database)
      try await store.send(.load)
      try await store.add("a")
      try await store.send(.load)
      try await store.add("b")
      #expect(await store.fed == ["list of 0", "add a", "list of 1", "add b"])
      await store.close()
      await database.close()
    }
  }

  @Test(
    "each operation is completed, however often the list is loaded meanwhile",
    arguments: Implementation.shared)
  func reloads(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let database = place.lists()
      let store = try await Host(database)
      async let adds: Void = {
        for number in 1...100 { try await store.add("\(number)") }
      }()
      async let loads: Void = {
        for _ in 1...100 {
          let load = try await store.begin(.load)
          await Task.yield()
          await store.cancel(load)
        }
      }()
      _ = try await (adds, loads)
      #expect(await store.results == Array(repeating: "done", count: 100))
      try await store.send(.load)
      #expect(await store.todos.map(\.title) == (1...100).map { "\($0)" })
      await store.close()
      await database.close()
    }
  }

  @Test(
    "all stores receive the changes in one order, whichever store makes them",
    arguments: Implementation.shared)
  func oneOrder(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let ids = CountedIDs()
      let databases = [place.lists(ids: ids), place.lists(ids: ids)]
      var stores: [Host<Probe>] = []
      for number in 0..<8 { stores.append(try await Host(databases[number % 2])) }
      for store in stores { try await store.send(.load) }
      try await withThrowingTaskGroup { group in
        for (number, store) in stores.enumerated() {
          group.addTask { for count in 1...50 { try await store.add("\(number).\(count)") } }
        }
        try await group.waitForAll()
      }
      // The next operation of a store delivers the changes that it lacks.
      for store in stores { try await store.perform(.remove(id: "unknown")) }
      let expected = await stores[0].todos
      #expect(Set(expected.map(\.title)).count == 400)
      for (number, store) in stores.enumerated() {
        #expect(await store.todos == expected)
        #expect(await store.fed.count { $0.hasPrefix("list") } == 1)
        let mine = expected.map(\.title).filter { $0.hasPrefix("\(number).") }
        #expect(mine == (1...50).map { "\(number).\($0)" })
        await store.close()
      }
      for database in databases { await database.close() }
    }
  }

  @Test(
    "an operation immediately after a load waits for the feed", arguments: 1...20,
    Implementation.shared)
  func immediatelyAfterLoad(round: Int, implementation: Implementation) async throws {
    // The work of a load begins on another thread. An operation immediately after it found no feed,
    // and was sometimes completed before its change was delivered.
    try await implementation.withPlace { place in
      let database = place.lists()
      let store = try await Host(database)
      _ = try await store.begin(.load)
      try await store.add("Tea")
      #expect(await store.todos.map(\.title) == ["Tea"])
      await store.close()
      await database.close()
    }
  }
}

/// Lists of which reads wait at a gate after they have read.
private final class HeldReads: TodoListStorage {
  private let storage: any TodoListStorage
  private let gate = Lock<Gate?>(nil)

  init(_ storage: any TodoListStorage) { self.storage = storage }

  var listeners: ListListeners { storage.listeners }
  var line: OperationLine { storage.line }
  var limits: TodoLimits { storage.limits }

  /// Holds the reads from now on.
  func hold(at gate: Gate) { self.gate.withLock { $0 = gate } }

  func read(_ list: ByteString, after version: ListVersion) async throws -> MissedChanges {
    let missed = try await storage.read(list, after: version)
    await gate.withLock { $0 }?.wait()
    return missed
  }

  func perform(
    _ operation: TodoOperation, on list: ByteString, once id: OperationID?,
    at place: OperationPlace?
  ) async throws -> Result<ListVersion, OperationRefusal> {
    try await storage.perform(operation, on: list, once: id, at: place)
  }
}
