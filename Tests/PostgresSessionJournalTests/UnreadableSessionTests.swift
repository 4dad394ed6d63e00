// SPDX-License-Identifier: Apache-2.0

import PostgresConnections
import PostgresTestSupport
import Sessions
import TestSupport
import Testing

@testable import PostgresSessionJournal

@Suite("Rows of sessions that are not as a node has written them", .needsPostgres)
struct UnreadableSessionTests {
  /// Events with numbers that no program counts to.
  static let events: [JournalEntry.Event] = [
    .alone(continues: true, bytes: .max),
    .store("a", .step(patch: nil, revision: .max, frame: nil)),
    .store("a", .step(patch: nil, revision: -1, frame: nil)),
    .store("a", .renewed(revision: .max, version: 1, renewal: .migrated)),
    .store("a", .accepted(operation: .max, epoch: 1, input: nil, at: .zero)),
    .store("a", .settled(operation: .max)),
  ]

  @Test("a session that cannot be read is given up, and ends in time", arguments: events.indices)
  func givenUp(event: Int) async throws {
    let cluster = try Cluster(.common())
    let (a, b) = (try cluster.node("a"), try cluster.node("b"))
    let handle = SessionHandle.random()
    try a.journal.commit(handle.opened)
    try a.journal.commit([JournalEntry(handle, .expires(at: .seconds(5)))])
    try await a.leave()
    var row = EntryWriter()
    row.append(Self.events[event])
    let data = row.bytes.map { String(Int($0) + 0x100, radix: 16).dropFirst() }.joined()
    try cluster.observer.run("UPDATE statewire.entry SET data = '\\x\(data)' WHERE number = 2")
    try cluster.observer.run("UPDATE statewire.session SET continues = true")

    #expect(throws: UnreadableSession.self) { try b.journal.load(handle) }
    let c = try cluster.node("c")
    // No node owns it. Those that cannot read it do not try to continue it again and again.
    #expect(throws: UnreadableSession.self) { try c.journal.load(handle) }
    for node in [b, c] { #expect(try await node.claimContinuing() == []) }
    // A later node may be able to.
    let d = try cluster.node("d")
    #expect(try await d.claimContinuing() == [handle])
    #expect(throws: UnreadableSession.self) { try d.journal.load(handle) }
    #expect(try await c.endExpired(at: .seconds(6)) == 1)
    #expect(try await b.claim(handle) == .ended(owner: "me"))
  }

  @Test("an input of any epoch is read again")
  func epochs() async throws {
    let cluster = try Cluster(.common())
    let (a, b) = (try cluster.node("a"), try cluster.node("b"))
    let handle = SessionHandle.random()
    try a.journal.commit(handle.opened)
    try a.journal.commit([
      JournalEntry(
        handle, .store("a", .accepted(operation: 1, epoch: .max, input: nil, at: .zero)))
    ])
    try await a.leave()
    #expect(try b.journal.load(handle).session?.stores[0].accepted.map(\.epoch) == [.max])
  }

  @Test("the numbers of rows have limits", arguments: [Int64.min, -1, 0])
  func rowNumbers(_ number: Int64) async throws {
    let cluster = try Cluster(.common())
    let (a, b) = (try cluster.node("a"), try cluster.node("b"))
    let handle = SessionHandle.random()
    try a.journal.commit(handle.opened)
    try await a.leave()
    try cluster.observer.run("UPDATE statewire.entry SET number = \(number)")
    #expect(throws: UnreadableSession.self) { try b.journal.load(handle) }
  }

  @Test("a deadline beyond all times is the latest one")
  func deadline() async throws {
    let cluster = try Cluster(.common())
    let a = try cluster.node("a")
    let handle = SessionHandle.random()
    try a.journal.commit(handle.opened)
    try a.journal.commit([JournalEntry(handle, .expires(at: .seconds(Int.max)))])
    try await a.leave()
    let b = try cluster.node("b")
    #expect(try await b.endExpired(at: .seconds(1 << 33)) == 0)
    #expect(try b.journal.load(handle).session != nil)
  }

  @Test("a session that is among the ended ones already keeps no other from being ended")
  func endedTwice() async throws {
    let cluster = try Cluster(.common())
    let (a, b) = (try cluster.node("a"), try cluster.node("b"))
    let handles = (0..<3).map { _ in SessionHandle.random() }
    for handle in handles {
      try a.journal.commit(handle.opened)
      try a.journal.commit([JournalEntry(handle, .expires(at: .seconds(5)))])
    }
    try await a.leave()
    let uuid = handles[1].description
    try cluster.observer.run("INSERT INTO statewire.ended (handle) VALUES ('\(uuid)')")
    #expect(try await b.endExpired(at: .seconds(6)) == 3)
    #expect(try cluster.count("session") == 0 && cluster.count("ended") == 3)
  }

  @Test("the list of ended sessions is cut when sessions end by themselves")
  func cutList() async throws {
    let cluster = try Cluster(.common())
    let a = try cluster.node("a")
    try cluster.observer.run(
      """
      INSERT INTO statewire.ended (handle)
        SELECT gen_random_uuid() FROM generate_series(1, 100010)
      """)
    #expect(try await a.endExpired(at: .seconds(6)) == 0)
    #expect(try cluster.count("ended") == 100_000)
  }
}
