// SPDX-License-Identifier: Apache-2.0

import PostgresConnections
import PostgresSessionJournal
import PostgresTestSupport
import Sessions
import TestSupport
import Testing

@Suite("Outages of the database", .needsPostgres, .timeLimit(.minutes(15)))
struct OutageTests {
  @Test(
    "commits in progress when the server restarts or is killed are committed once, in order",
    arguments: ["restart", "kill", "disconnect"])
  func pipelined(how: String) async throws {
    let cluster = try Cluster(PostgresServer())
    let node = try cluster.node("a")
    let handle = SessionHandle.random()
    try node.journal.commit(handle.opened)
    let ends = Record<Bool>()
    for round in 0..<3 {
      for number in 1...300 {
        node.begin([handle.step(round * 300 + number)], ends)
        guard number == 150 else { continue }
        try await ends.reaches(round * 300 + 1)
        switch how {
        case "restart":
          try cluster.server.stop()
          try cluster.server.start()
        case "kill":
          try cluster.server.kill()
          try cluster.server.start()
        default:
          try cluster.disconnect("a")
        }
      }
    }
    try await ends.reaches(900)
    #expect(!ends.all.contains(false))
    // Each is there once: the numbers of rows have no gaps, and updates follow one another.
    try await node.release(handle)
    let store = try #require(try node.journal.load(handle).session?.stores.first)
    #expect(store.revision == 900)
    #expect(store.frames.map(\.revision) == Array(1...900))
  }

  @Test("a database that has lost commits, such as a late replica, makes the node load all again")
  func lostCommits() async throws {
    // The node joins again when this is over; a shorter lease lapses on a busy machine.
    let cluster = try Cluster(.common(), lease: .seconds(8))
    let node = try cluster.node("a")
    let handle = SessionHandle.random()
    try node.journal.commit(handle.opened)
    try node.journal.commit([handle.step(1)])
    try cluster.observer.run("DELETE FROM statewire.entry WHERE number = 2")
    try cluster.observer.run("UPDATE statewire.writer SET last = last - 1")
    try cluster.disconnect("a")
    #expect(throws: LeaseLost.self) { try node.journal.commit([handle.step(2)]) }
    try await node.changes.reaches(2)
    #expect(node.changes.all == [.lost, .held])
    // Waits until the journal has a new writer, which it has a moment later than the node its lease.
    #expect(try node.journal.load(handle).session?.stores[0].revision == 0)
    try node.journal.commit([handle.step(1)])
  }

  @Test("commits wait for a database that is read-only, and fail after the patience")
  func readOnly() async throws {
    let cluster = try Cluster(PostgresServer())
    let node = try Node("a", cluster, patience: .seconds(2))
    let handle = SessionHandle.random()
    try node.journal.commit(handle.opened)
    let database = String(cluster.url.split(separator: "/").last ?? "")
    func setReadOnly(_ isOn: Bool) throws {
      try cluster.observer.run(
        """
        DO $$ BEGIN
          SET LOCAL transaction_read_only = off;
          ALTER DATABASE \(database) SET default_transaction_read_only = \(isOn ? "on" : "off");
        END $$
        """)
      // Connections read the setting when they begin.
      try cluster.disconnect("a")
    }
    try setReadOnly(true)
    let ends = Record<Bool>()
    node.begin([handle.step(1)], ends)
    try await ends.reaches(1)
    #expect(ends.all == [false])
    // Later ones fail immediately.
    #expect(throws: (any Error).self) { try node.journal.commit([handle.step(1)]) }
    try setReadOnly(false)
    // The session is journaled as a whole, as after each failure.
    await eventually("the database accepts commits again") {
      (try? node.journal.commit(handle.opened + [handle.step(1)])) != nil
    }
    try await node.release(handle)
    #expect(try node.journal.load(handle).session?.stores[0].frames.map(\.revision) == [1])
  }

  @Test(
    "a commit without a response from the database fails after the patience, and is not repeated")
  func stuck() async throws {
    let cluster = try Cluster(.common())
    let node = try Node("a", cluster, patience: .seconds(1))
    let handle = SessionHandle.random()
    try node.journal.commit(handle.opened)
    let lock = PostgresConnection(cluster.address, application: "lock")
    try lock.run("BEGIN")
    try lock.run("SELECT FROM statewire.writer FOR UPDATE")
    #expect(throws: (any Error).self) { try node.journal.commit([handle.step(1)]) }
    try lock.run("COMMIT")
    // The session is journaled as a whole, as after each failure.
    await eventually("the journal continues") {
      (try? node.journal.commit(handle.opened + [handle.step(2)])) != nil
    }
    try await node.release(handle)
    #expect(try node.journal.load(handle).session?.stores[0].frames.map(\.revision) == [2])
  }
}
