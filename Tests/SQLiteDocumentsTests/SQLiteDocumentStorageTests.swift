// SPDX-License-Identifier: Apache-2.0

import Documents
import GRDB
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteDocuments
@testable import SQLiteFiles

@Suite("Documents in a database file")
struct SQLiteDocumentStorageTests {
  private func opened(
    _ folder: String, clock: any Clock<Duration> = ContinuousClock(),
    complaints: RecordedFailures = RecordedFailures()
  ) -> SQLiteDocumentStorage {
    SQLiteDocumentStorage(folder: folder, clock: clock, failed: complaints.add)
  }

  @Test("rows, positions and operations outlive the process")
  func reopening() async throws {
    try await withFolder { folder in
      for _ in 0..<2 {
        let storage = opened(folder)
        let position = try await storage.put("a", once: "x")
        let contents = try await storage.contents()
        #expect(position == 1 && contents == ["a=1"])
        await storage.close()
      }
    }
  }

  @Test("notices come from the changes of other processes")
  func sharing() async throws {
    try await withFolder { folder in
      let clock = TestClock()
      let (one, two) = (opened(folder, clock: clock), opened(folder))
      try await one.put("a")
      var notices = one.notices(of: "t").makeAsyncIterator()
      async let polling: Void = one.run()
      // A second time, when the number to compare with is known.
      for number in 2...3 as ClosedRange<Int64> {
        await clock.waitForSleeper()
        #expect(try await two.put("a", "\(number)") == TablePosition(rawValue: number))
        clock.advance(by: ExternalCommits.pollInterval)
        let notice = try #require(await notices.next())
        #expect(notice.position.rawValue == number && notice.changes.isEmpty)
        #expect(
          try await one.read("t", after: TablePosition(rawValue: number - 1)).words
            == ["a=\(number)"])
      }
      await one.close()
      await two.close()
      clock.advance(by: ExternalCommits.pollInterval)
      await polling
    }
  }

  @Test("updates of several processes are all carried out")
  func contention() async throws {
    try await withFolder { folder in
      let storages = [opened(folder), opened(folder)]
      try await withThrowingTaskGroup { group in
        for storage in storages {
          group.addTask {
            for _ in 0..<50 {
              _ = try await storage.update("t", reading: ["n"], once: nil) { rows, _ in
                let old = rows[0].flatMap { Int(String(decoding: $0.value, as: UTF8.self)) } ?? 0
                return [.put(stored("n", "\(old + 1)"))]
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await storages[0].contents() == ["n=100"])
      for storage in storages { await storage.close() }
    }
  }

  @Test("a full disk is an error of its own, and nothing is lost")
  func full() async throws {
    try await withFolder { folder in
      let complaints = RecordedFailures()
      let storage = opened(folder, complaints: complaints)
      try await storage.put("a")
      _ = try await storage.file.use { open in
        try await open.onWriter { db in
          try db.execute(sql: "PRAGMA max_page_count = 1")
        }
      }
      let text = String(repeating: "1", count: 100_000)
      await #expect(throws: DocumentError(.full, "the disk of the storage is full")) {
        for number in 0..<100 { try await storage.put("\(number)", text) }
      }
      #expect(try await storage.contents().first == "a=1")
      let complaint = try #require(complaints.all.first)
      #expect(complaint.contains(" is full: free space on it."))
      await storage.close()
    }
  }

  @Test("a file that cannot be written is an error of its own")
  func readOnly() async throws {
    try await withFolder { folder in
      let storage = opened(folder)
      try await storage.put("a")
      _ = try await storage.file.use { open in
        try await open.onWriter { db in try db.execute(sql: "PRAGMA query_only = 1") }
      }
      await #expect(throws: DocumentError(.readOnly, "the storage cannot be written")) {
        try await storage.put("b")
      }
      #expect(try await storage.contents() == ["a=1"])
      await storage.close()
      await #expect(throws: DocumentError(.unavailable, "the storage cannot be used now")) {
        try await storage.put("b")
      }
    }
  }

  @Test("the sum of all sizes is that of the rows")
  func sizes() async throws {
    try await withFolder { folder in
      let storage = opened(folder)
      for table in ["t", "u"] {
        for id in ["a", "b", "c"] { try await storage.put(id, "123", in: table) }
        try await storage.put("a", "12345678", in: table)
        try await storage.remove("b", in: table)
      }
      let sums = try await storage.file.use { open in
        try await open.read { db in
          try Row.fetchAll(
            db,
            sql: """
              SELECT tables, bytes FROM documentTotal UNION ALL
              SELECT 2, sum(bytes) FROM documentTable UNION ALL
              SELECT sum(rows) / 2, sum(bytes) FROM documentTable UNION ALL
              SELECT 2, sum(length(id) + length(value) + 16) FROM documentRow
              """
          ).map { [$0[0] as Int, $0[1] as Int] }
        }
      }
      #expect(sums == Array(repeating: [2, 90], count: 4))
      await storage.close()
    }
  }

  @Test("each statement uses an index, and none scans a table")
  func plans() throws {
    let database = try DatabaseQueue()
    try DatabaseMigrator([DocumentSchema.schema]).migrate(database)
    try database.write { db in
      for statement in DocumentStatement.allCases {
        let explained = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(statement.rawValue)")
        explained.setUncheckedArguments([])
        for row in try Row.fetchAll(explained) {
          let step: String = row["detail"]
          let isSorting = step == "USE TEMP B-TREE FOR ORDER BY" && statement == .rowsAfter
          #expect(
            isSorting || step.hasPrefix("SEARCH ") && step.contains(" USING "),
            "\(statement): \(step)")
        }
      }
    }
  }
}
