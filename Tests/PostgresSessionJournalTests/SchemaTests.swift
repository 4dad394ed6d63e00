// SPDX-License-Identifier: Apache-2.0

import PostgresConnections
import PostgresTestSupport
import Sessions
import TestSupport
import Testing

@testable import PostgresSessionJournal

@Suite("Tables of the journal in PostgreSQL", .needsPostgres, .timeLimit(.minutes(15)))
struct SchemaTests {
  private let extra = PostgresSchema.Step(
    oldest: 1, sql: "ALTER TABLE statewire.session ADD COLUMN extra bigint")
  private let breaking = PostgresSchema.Step(
    oldest: PostgresSchema.steps.count + 1,
    sql: "ALTER TABLE statewire.session ADD COLUMN other bigint")

  private func migrate(_ cluster: Cluster, _ steps: [PostgresSchema.Step]) throws {
    try PostgresSchema.migrate(cluster.observer, steps: steps, within: .seconds(30))
  }

  @Test("nodes that start at the same time create the tables once")
  func atOnce() async throws {
    let cluster = try Cluster(.common())
    let names = (0..<6).map { "node \($0)" }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in names {
        group.addTask {
          let node = try cluster.node(name)
          try node.journal.commit(SessionHandle.random().opened)
        }
      }
      try await group.waitForAll()
    }
    #expect(try cluster.count("session") == 6)
    #expect(try cluster.count("version") == 1)
  }

  @Test("an old node runs beside a newer one whose tables it can use")
  func beside() async throws {
    let cluster = try Cluster(.common())
    let old = try cluster.node("old")
    try migrate(cluster, PostgresSchema.steps + [extra])
    try old.journal.commit(SessionHandle.random().opened)
    _ = try cluster.node("also old")
    #expect(
      try cluster.observer.run("SELECT version FROM statewire.version").integer(0, 0)
        == Int64(PostgresSchema.steps.count + 1))
  }

  @Test("a newer node names the old ones that must end first, and then the old ones are refused")
  func breaks() async throws {
    let cluster = try Cluster(.common())
    let old = try cluster.node("old")
    let steps = PostgresSchema.steps + [extra, breaking]
    do {
      try migrate(cluster, steps)
      Issue.record("the tables of a running node were changed")
    } catch let error as PostgresError {
      #expect(error.message.contains("stop old first"))
    }
    try await old.leave()
    try migrate(cluster, steps)
    do {
      _ = try cluster.node("old")
      Issue.record("an old node uses new tables")
    } catch let error as PostgresError {
      #expect(error.message.contains("upgrade this node"))
    }
  }
}
