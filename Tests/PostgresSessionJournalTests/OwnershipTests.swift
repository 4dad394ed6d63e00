// SPDX-License-Identifier: Apache-2.0

import PostgresConnections
import PostgresSessionJournal
import PostgresTestSupport
import Sessions
import TestSupport
import Testing

@Suite("Ownership of sessions", .needsPostgres, .timeLimit(.minutes(15)))
struct OwnershipTests {
  @Test("a session is served by its owner until the owner gives it up or leaves")
  func moves() async throws {
    let cluster = try Cluster(.common())
    let (a, b) = (try cluster.node("a"), try cluster.node("b"))
    #expect(try await a.nodes() == ["a", "b"] && a.ownership.isHeld)
    let handle = SessionHandle.random()
    #expect(try await a.claim(handle) == .unknown)
    try a.journal.commit(handle.opened)
    try a.journal.commit([handle.step(1)])
    #expect(try await a.claim(handle) == .owned)
    guard case .otherNode(let owner) = try await b.claim(handle) else {
      Issue.record("two nodes own a session")
      return
    }
    #expect(owner.name == "a" && owner.address == "a:7227" && owner.leaseLeft > .zero)
    #expect(throws: SessionOnOtherNode.self) { try b.journal.load(handle) }
    // One at a time.
    try await a.release(handle)
    #expect(try b.journal.load(handle).session?.stores[0].revision == 1)
    #expect(throws: SessionOnOtherNode.self) { try a.journal.commit([handle.step(2)]) }
    try b.journal.commit([handle.step(2)])
    // All of them.
    try await b.leave()
    #expect(!b.ownership.isHeld)
    #expect(try a.journal.load(handle).session?.stores[0].revision == 2)
    #expect(try await a.nodes() == ["a"])
    try a.journal.commit([JournalEntry(handle, .ended)])
    #expect(try await a.claim(handle) == .ended(owner: "me"))
    #expect(try cluster.count("entry") == 0)
  }

  @Test("of several nodes that claim a session at the same time, one gets it", arguments: 1...5)
  func race(round: Int) async throws {
    let cluster = try Cluster(.common())
    let nodes = try ["a", "b", "c"].map(cluster.node)
    let handles = (0..<20).map { _ in SessionHandle.random() }
    for handle in handles { try nodes[0].journal.commit(handle.opened) }
    try cluster.bury("a")
    for handle in handles {
      async let one = nodes[1].claim(handle)
      async let other = nodes[2].claim(handle)
      let owned = try await [one, other].filter { $0 == .owned }
      #expect(owned.count == 1)
    }
    let epochs = try cluster.observer.run("SELECT DISTINCT epoch FROM statewire.session")
    #expect(epochs.count == 1 && epochs.integer(0, 0) == 2)
  }

  @Test("a node whose lease was taken over commits nothing, and joins again without sessions")
  func fenced() async throws {
    let cluster = try Cluster(.common(), lease: .seconds(1))
    let (a, b) = (try cluster.node("a"), try Node("b", cluster))
    let handle = SessionHandle.random()
    try a.journal.commit(handle.opened)
    try cluster.bury("a")
    #expect(try b.journal.load(handle).session != nil)
    // The former owner has not noticed anything.
    #expect(throws: LeaseLost.self) { try a.journal.commit([handle.step(1)]) }
    try await a.changes.reaches(2)
    #expect(a.changes.all == [.lost, .held] && a.ownership.isHeld)
    // It joins as a new node, and what it has in memory is not its own.
    #expect(throws: (any Error).self) { try a.journal.commit([handle.step(1)]) }
    #expect(throws: (any Error).self) { try a.journal.commit(handle.opened) }
    try b.journal.commit([handle.step(1)])
    let other = SessionHandle.random()
    await eventually("the journal has a new writer") {
      (try? a.journal.commit(other.opened)) != nil
    }
    #expect(try cluster.count("entry") == 3)
  }

  @Test("an old epoch of one session commits nothing of a transaction, and stops no other session")
  func epoch() async throws {
    let cluster = try Cluster(.common())
    let a = try cluster.node("a")
    let (old, other) = (SessionHandle.random(), SessionHandle.random())
    for handle in [old, other] { try a.journal.commit(handle.opened) }
    try cluster.observer.run(
      "UPDATE statewire.session SET epoch = 2 WHERE handle = '\(old.description)'")
    #expect(throws: SessionOnOtherNode.self) {
      try a.journal.commit([other.step(1), old.step(1)])
    }
    #expect(throws: SessionOnOtherNode.self) { try a.journal.commit([JournalEntry(old, .ended)]) }
    #expect(throws: SessionOnOtherNode.self) { try a.journal.commit(old.opened) }
    #expect(try cluster.count("entry") == 2 && cluster.count("session") == 2)
    try a.journal.commit([other.step(1)])
    // The owner of the new epoch has not changed its node.
    #expect(try a.journal.load(old).session?.stores[0].revision == 0)
  }

  @Test("a transaction of a former connection, or out of order, or of no node is refused")
  func writers() async throws {
    let cluster = try Cluster(.common())
    let a = try cluster.node("a")
    let handle = SessionHandle.random()
    try a.journal.commit(handle.opened)
    func writer() throws -> (id: Int64, generation: Int64, last: Int64) {
      let rows = try cluster.observer.run("SELECT id, generation, last FROM statewire.writer")
      return (rows.integer(0, 0) ?? 0, rows.integer(0, 1) ?? 0, rows.integer(0, 2) ?? 0)
    }
    let former = try writer()
    try cluster.disconnect("a")
    try await eventually("there is a new generation") {
      try writer().generation > former.generation
    }
    try a.journal.commit([handle.step(1)])
    let present = try writer()
    #expect(present.id == former.id)
    func refusal(_ writer: Int64, _ generation: Int64, _ number: Int64) -> String? {
      do {
        try cluster.observer.run(
          "SELECT statewire.fence(\(writer), \(generation), \(number), '{}', '{}')")
        return nil
      } catch { return (error as? PostgresError)?.sqlState }
    }
    #expect(refusal(present.id, former.generation, present.last + 1) == "SW002")
    #expect(refusal(present.id, present.generation, present.last) == "SW002")
    #expect(refusal(present.id, present.generation, present.last + 2) == "SW002")
    #expect(refusal(present.id + 1000, present.generation, present.last + 1) == "SW001")
    try a.journal.commit([handle.step(2)])
  }

  @Test("a transaction in progress ends before another node takes the session over")
  func inProgress() async throws {
    let cluster = try Cluster(.common())
    let (a, b) = (try cluster.node("a"), try cluster.node("b"))
    let handle = SessionHandle.random()
    try a.journal.commit(handle.opened)
    let ends = Record<Bool>()
    for revision in 1...200 { a.begin([handle.step(revision)], ends) }
    try cluster.bury("a")
    let taken = try b.journal.load(handle).session?.stores[0].revision
    try await ends.reaches(200)
    let committed = ends.all.prefix { $0 }.count
    // All that was reported as committed is there. Nothing else is there, except transactions whose
    // end the former owner could not receive, because the new one has ended its connection.
    #expect(taken ?? -1 >= committed)
    #expect(!ends.all.dropFirst(committed).contains(true))
    #expect(throws: (any Error).self) { try a.journal.commit([handle.step(201)]) }
    #expect(try b.journal.load(handle).session?.stores[0].revision == taken)
  }

  @Test("a node that cannot renew its lease stops in time, and continues if no other was faster")
  func lapsed() async throws {
    let cluster = try Cluster(PostgresServer(), lease: .seconds(1))
    let a = try cluster.node("a")
    let handle = SessionHandle.random()
    try a.journal.commit(handle.opened)
    try cluster.server.kill()
    try await a.changes.reaches(1)
    #expect(a.changes.all == [.lapsed] && !a.ownership.isHeld)
    try cluster.server.start()
    try await a.changes.reaches(2)
    #expect(a.changes.all == [.lapsed, .held] && a.ownership.isHeld)
    // The sessions are as they were.
    try a.journal.commit([handle.step(1)])
  }

  @Test("another node removes a dead one only after it has had a lease for as long itself")
  func grace() async throws {
    let cluster = try Cluster(.common(), lease: .seconds(1))
    let a = try cluster.node("a")
    let handle = SessionHandle.random()
    try a.journal.commit(handle.opened)
    // As after kill -9.
    a.ownership.close()
    a.journal.close()
    let b = try cluster.node("b")
    try await eventually("the dead node is removed") { try await b.nodes() == ["b"] }
    #expect(try await b.claim(handle) == .owned)
    // The name can be used again.
    _ = try cluster.node("a")
  }

  @Test("a name is refused while another node has it")
  func names() async throws {
    let cluster = try Cluster(.common(), lease: .milliseconds(500))
    let a = try cluster.node("a")
    #expect(throws: PostgresError.self) { try cluster.node("a") }
    withExtendedLifetime(a) {}
  }

  @Test("sessions of a dead node that have work continue on one other node, and others sleep")
  func continuing() async throws {
    let cluster = try Cluster(.common())
    let (a, b) = (try cluster.node("a"), try cluster.node("b"))
    let handles = (0..<5).map { _ in SessionHandle.random() }
    for handle in handles { try a.journal.commit(handle.opened) }
    for handle in handles[..<3] {
      try a.journal.commit([
        JournalEntry(handle, .expires(at: .seconds(100))),
        JournalEntry(handle, .alone(continues: false, bytes: 0)),
      ])
    }
    // It has an input whose effects have not ended.
    try a.journal.commit([
      JournalEntry(
        handles[0], .store("a", .accepted(operation: 1, epoch: 1, input: nil, at: .zero)))
    ])
    #expect(try await b.claimContinuing() == [])
    try cluster.bury("a")
    #expect(try await b.claimContinuing() == [handles[0], handles[3], handles[4]])
    #expect(try await b.claimContinuing() == [])
    // Those that sleep expire, and those in use do not.
    #expect(try await b.endExpired(at: .seconds(99)) == 0)
    #expect(try await b.endExpired(at: .seconds(100)) == 2)
    #expect(try await b.claim(handles[1]) == .ended(owner: "me"))
    #expect(try cluster.count("session") == 3)
  }
}
