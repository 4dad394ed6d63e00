// SPDX-License-Identifier: Apache-2.0

import Dispatch
import PostgresConnections
import PostgresSessionJournal
import PostgresTestSupport
import StateMachines
import TestSupport
import Testing

@testable import Sessions

/// The writer of a shard, with a journal in PostgreSQL.
@Suite("Journal writer and PostgreSQL", .needsPostgres, .timeLimit(.minutes(15)))
struct WriterTests {
  private struct End: Sendable {
    let last: UInt64
    let failed: [UInt64]
  }

  private let ends = Record<End>()

  private func writer(_ node: Node) throws -> JournalWriter {
    let commits = DispatchQueue(label: "commits")
    let made = JournalWriter(node.journal, commit: { job in commits.async(execute: job) })
    let writer = try #require(made)
    writer.set(
      .alone,
      ended: { [ends] in
        ends.add(
          End(
            last: $0.last.rawValue,
            failed: $0.failures.flatMap {
              Array($0.numbers.lowerBound.rawValue...$0.numbers.upperBound.rawValue)
            }))
      })
    return writer
  }

  private func commit(_ entries: [JournalEntry], _ number: Int, _ writer: JournalWriter) {
    var entries = entries
    writer.commit(&entries, byteCount: 100, of: 0, CommitNumber(rawValue: UInt64(number)))
  }

  /// Waits for the end of a turn, and returns the turns that have failed.
  private func end(of number: Int) async -> [UInt64] {
    await eventually("turn \(number) ends") { ends.all.last?.last ?? 0 >= number }
    let all = ends.all
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.last < $1.last }, "turns end in order")
    return all.flatMap(\.failed)
  }

  @Test("turns of many sessions are committed once and in order while the server is killed")
  func killed() async throws {
    let cluster = try Cluster(PostgresServer())
    let node = try cluster.node("a")
    let writer = try writer(node)
    let handles = (0..<20).map { _ in SessionHandle.random() }
    var number = 0
    for handle in handles {
      number += 1
      commit(handle.opened, number, writer)
    }
    for revision in 1...100 {
      for handle in handles {
        number += 1
        commit([handle.step(revision)], number, writer)
      }
      if revision % 40 == 0 {
        try cluster.server.kill()
        try cluster.server.start()
      }
    }
    #expect(await end(of: number) == [])
    // Turns share transactions.
    #expect(ends.count < number)
    for handle in handles {
      try await node.release(handle)
      let store = try node.journal.load(handle).session?.stores[0]
      #expect(store?.frames.map(\.revision) == Array(1...100))
    }
  }

  @Test("a turn that the database refuses fails alone, and its session is journaled as a whole")
  func refused() async throws {
    let cluster = try Cluster(.common())
    let node = try cluster.node("a")
    let writer = try writer(node)
    let (good, bad) = (SessionHandle.random(), SessionHandle.random())
    commit(good.opened, 1, writer)
    commit(bad.opened, 2, writer)
    #expect(await end(of: 2) == [])
    try cluster.observer.run(
      "ALTER TABLE statewire.entry ADD CONSTRAINT small CHECK (octet_length(data) < 1000) NOT VALID"
    )
    let large = JournalEntry(
      bad,
      .store("a", .state(.text([UInt8](repeating: 0x61, count: 2000)), revision: 1)))
    var number = 2
    for revision in 1...50 {
      commit([good.step(revision)], number + 1, writer)
      commit(revision == 20 ? [large] : [bad.step(revision)], number + 2, writer)
      number += 2
    }
    // From the turn that fails on, all turns of the session fail, and no other one.
    let failed = await end(of: number)
    #expect(failed == stride(from: 42, through: 102, by: 2).map { UInt64($0) })
    commit(bad.opened + [bad.step(7)], number + 1, writer)
    commit([bad.step(8)], number + 2, writer)
    #expect(await end(of: number + 2).count == failed.count)
    for (handle, revision) in [(good, 50), (bad, 8)] {
      try await node.release(handle)
      #expect(try node.journal.load(handle).session?.stores[0].revision == revision)
    }
  }

  @Test("all turns of a node that was removed fail, and nothing of them is in the database")
  func removed() async throws {
    let cluster = try Cluster(.common(), lease: .seconds(60))
    let (a, b) = (try cluster.node("a"), try cluster.node("b"))
    let writer = try writer(a)
    let handle = SessionHandle.random()
    commit(handle.opened, 1, writer)
    #expect(await end(of: 1) == [])
    for revision in 1...300 { commit([handle.step(revision)], 1 + revision, writer) }
    try cluster.bury("a")
    let taken = try b.journal.load(handle).session?.stores[0].revision ?? -1
    for revision in 301...400 { commit([handle.step(revision)], 1 + revision, writer) }
    let failed = await end(of: 401)
    // All turns after the takeover have failed; before it, at most those whose end the former
    // owner could not receive.
    let first = try #require(failed.first)
    #expect(failed == Array(first...401) && first <= taken + 2)
    try b.journal.commit([handle.step(taken + 1)])
  }
}
