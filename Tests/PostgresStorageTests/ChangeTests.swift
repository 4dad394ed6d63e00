// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Documents
import PostgresConnections
import PostgresTestSupport
import StateMachines
import StorageTestSupport
import StoredTodoLists
import TestSupport
import Testing

@testable import PostgresStorage

@Suite("Changes of other nodes", .needsPostgres, .serialized, .timeLimit(.minutes(15)))
struct ChangeTests {
  @Test("a notified node passes changes on to all stores, as single changes")
  func notified() async throws {
    let database = try SharedDatabase(.common())
    let (here, there) = (database.node("a"), database.node("b"))
    var stores: [Host<Probe>] = []
    for _ in 0..<20 {
      let store = try await Host(here.todoLists)
      try await store.send(.load)
      stores.append(store)
    }
    let other = try await Host(there.todoLists)
    try await other.add("a", "b")
    for store in stores {
      await store.until { $0.fed.count == 3 }
      #expect(await store.fed == ["list of 0", "add a", "add b"])
      await store.close()
    }
    await other.close()
    for node in [here, there] { node.close() }
  }

  @Test("a notified node passes changes of a table on, also many at the same time")
  func documents() async throws {
    let database = try SharedDatabase(.common())
    let (here, there) = (database.node("a"), database.node("b"))
    try await here.documents.put("a")
    var notices = here.documents.notices(of: "t").makeAsyncIterator()
    var position: TablePosition = 1
    #expect(try await here.documents.read("t", after: nil).position == 1)
    for number in 1...50 { try await there.documents.put("a", "\(number)") }
    try await there.documents.remove("a")
    while position < 52 {
      let notice = try #require(await notices.next())
      #expect(notice.start == position && notice.position > position)
      position = notice.position
    }
    for node in [here, there] { node.close() }
  }

  @Test("a node without a notification polls while a store shows a list")
  func polling() async throws {
    let database = try SharedDatabase(.common())
    let clock = TestClock()
    let node = database.node(clock: clock)
    let store = try await Host(node.todoLists)
    try await store.send(.load)
    async let running: Void = node.run()
    for number in 1...3 {
      await clock.waitForSleeper()
      try database.addSilently("\(number)")
      clock.advance(by: ChangeFeed.pollInterval)
      await store.until { $0.fed.count == number + 1 }
    }
    #expect(await store.fed == ["list of 0", "add 1", "add 2", "add 3"])
    await store.close()
    clock.advance(by: ChangeFeed.pollInterval)
    node.close()
    await running
  }

  @Test("a node notifies the others at most once in 10 ms, and not itself")
  func notifications() async throws {
    let database = try SharedDatabase(.common())
    let heard = Record<Void>()
    let listening = PostgresConnection(
      database.address, application: "listener",
      setup: (
        PostgresTransaction(PostgresStatement("listen", "LISTEN statewire_changes")), { _ in }
      )
    ) { change in
      if case .notified = change { heard.add(()) }
    }
    _ = try listening.run("SELECT 1")
    let node = database.node()
    let store = try await Host(node.todoLists)
    let begun = ContinuousClock.now
    try await withThrowingTaskGroup { group in
      for number in 0..<1000 { group.addTask { try await store.add("\(number)") } }
      try await group.waitForAll()
    }
    try await heard.reaches(1)
    await store.close()
    node.close()
    let most = (ContinuousClock.now - begun) / .milliseconds(10) + 2
    #expect(Double(heard.all.count) <= most)
    listening.closeAndWait()
  }

  @Test("stores that load a list at the same time share a read and its result")
  func sharedReads() async throws {
    let reads = SharedReads<String, Int>()
    let gate = Gate()
    let count = Record<Void>()
    @Sendable func read(waits: Bool = false) async throws -> Int {
      try await reads.read("list") {
        count.add(())
        if waits { await gate.wait() }
        return count.all.count
      }
    }
    async let first = read(waits: true)
    try await gate.holds(1)
    let others = (0..<50).map { _ in Task { try await read() } }
    let cancelled = Task { try await read() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    gate.open()
    #expect(try await first == 1)
    // Tasks that begin later than the read of others read once more.
    for other in others { #expect(try await other.value > 1) }
    #expect(try await read() == count.all.count)
  }
}
