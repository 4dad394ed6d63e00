// SPDX-License-Identifier: Apache-2.0

import PostgresSessionJournal
import PostgresTestSupport
import Sessions
import TestSupport
import Testing

@Suite("The nodes of a database", .needsPostgres, .timeLimit(.minutes(15)))
struct NodeTableTests {
  @Test("an operator lists nodes, and asks one of them to end")
  func drain() async throws {
    let cluster = try Cluster(.common(), lease: .seconds(1))
    let table = try NodeTable(cluster.address)
    defer { table.close() }
    #expect(try table.nodes() == [])
    let (a, b) = (try cluster.node("a"), try cluster.node("b"))
    #expect(try table.nodes().map(\.name) == ["a", "b"])
    #expect(try table.nodes()[0].address == "a:7227")
    #expect(try !table.drain("c"))
    #expect(try table.drain("a"))
    try await a.changes.reaches(1)
    #expect(a.changes.all.first == .drains && b.changes.all == [])
    try await a.leave()
    #expect(try table.nodes().map(\.name) == ["b"])
  }

  @Test("all nodes of a database have one secret, and those of another one another")
  func secret() throws {
    let cluster = try Cluster(.common())
    let tables = [try NodeTable(cluster.address), try NodeTable(cluster.address)]
    let other = try NodeTable(Cluster(.common()).address)
    let secrets = try tables.map { try $0.secret() }
    #expect(secrets[0] == secrets[1] && secrets[0].utf8.count >= 32)
    #expect(try other.secret() != secrets[0])
    for table in tables + [other] { table.close() }
  }
}
