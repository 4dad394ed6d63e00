// SPDX-License-Identifier: Apache-2.0

import Documents
import StateMachines
import StatewireJSON
import StorageTestSupport
import Testing

/// The tests that each implementation of `DocumentStorage` passes.
@Suite("Document storage", .serialized, .timeLimit(.minutes(15)))
struct DocumentStorageTests {
  @Test("keeps rows in the order in which they were added", arguments: Implementation.all)
  func order(implementation: Implementation) async throws {
    try await implementation.withStorage { storage in
      #expect(try await storage.contents() == [])
      for id in ["b", "a", "é", "e\u{301}", "", "a\0b"] { try await storage.put(id) }
      #expect(
        try await storage.contents() == ["b=1", "a=1", "é=1", "e\u{301}=1", "=1", "a\0b=1"])
      try await storage.put("b", "2")
      try await storage.remove("a")
      try await storage.put("a", "3")
      #expect(
        try await storage.contents()
          == ["b=2", "é=1", "e\u{301}=1", "=1", "a\0b=1", "a=3"])
      #expect(try await storage.contents(of: "other") == [])
    }
  }

  @Test("reads what has changed since a position", arguments: Implementation.all)
  func changes(implementation: Implementation) async throws {
    try await implementation.withStorage { storage in
      for id in ["a", "b", "c"] { try await storage.put(id) }
      #expect(try await storage.read("t", after: 3).words == [])
      try await storage.put("b", "2")
      try await storage.remove("a")
      try await storage.put("d")
      try await storage.remove("d")
      try await storage.put("a", "2")
      let changes = try await storage.read("t", after: 3)
      #expect(!changes.isComplete && changes.position == 8)
      #expect(changes.words == ["-a", "-d", "b=2", "a=2"])
      #expect(try await storage.read("t", after: 7).words == ["a=2"])
      // A position that the table has not reached: the storage is an older copy.
      #expect(try await storage.read("t", after: 9).isComplete)
    }
  }

  @Test("gives all rows after many removals", arguments: Implementation.all)
  func removals(implementation: Implementation) async throws {
    try await implementation.withStorage(removals: 4) { storage in
      try await storage.put("kept")
      for number in 0..<20 {
        try await storage.put("\(number)")
        try await storage.remove("\(number)")
      }
      let all = try await storage.read("t", after: 1)
      #expect(all.isComplete && all.words == ["kept=1"])
      let last = try await storage.read("t", after: 35)
      #expect(!last.isComplete && last.words == ["-17", "-18", "-19"])
    }
  }

  @Test("loses no update", arguments: Implementation.all)
  func noLostUpdate(implementation: Implementation) async throws {
    try await implementation.withStorage { storage in
      try await withThrowingTaskGroup { group in
        for _ in 0..<100 {
          group.addTask {
            _ = try await storage.update("t", reading: ["n"], once: nil) { rows, _ in
              let old = rows[0].flatMap { Int(String(decoding: $0.value, as: UTF8.self)) } ?? 0
              return [.put(stored("n", "\(old + 1)"))]
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await storage.contents() == ["n=100"])
      #expect(try await storage.read("t", after: nil).position == 100)
    }
  }

  @Test("carries out all changes of an update or none", arguments: Implementation.all)
  func atomicity(implementation: Implementation) async throws {
    try await implementation.withStorage(limits: small { $0.rows = 2 }) { storage in
      let position = try await storage.update("t", reading: ["x", "a"], once: nil) { rows, next in
        #expect(rows == [nil, nil] && next == 1)
        return [.removed(id: "x"), .put(stored("a")), .put(stored("b")), .put(stored("a", "2"))]
      }
      #expect(position == 3)
      let refused = DocumentError(InputRefusal(.limit("tableRows"), "a table has at most 2 rows"))
      await #expect(throws: refused) {
        try await storage.update("t", reading: [], once: "1") { _, _ in
          [.put(stored("a", "3")), .put(stored("c"))]
        }
      }
      let own = DocumentError(InputRefusal(.value, "no"))
      await #expect(throws: own) {
        try await storage.update("t", reading: [], once: "1") { _, _ throws(DocumentError) in
          throw own
        }
      }
      #expect(try await storage.contents() == ["a=2", "b=1"])
      // The refused updates are not remembered.
      #expect(try await storage.put("b", "3", once: "1") == 4)
    }
  }

  @Test("carries out an update once for each id", arguments: Implementation.all)
  func once(implementation: Implementation) async throws {
    try await implementation.withStorage { storage in
      for _ in 0..<3 { #expect(try await storage.put("a", "1", once: "x") == 1) }
      try await storage.put("a", "2")
      #expect(try await storage.put("a", "1", once: "x") == 1)
      #expect(try await storage.put("a", "3", once: "y") == 3)
      #expect(try await storage.contents() == ["a=3"])
    }
  }

  @Test(
    "refuses what exceeds a limit, and never what makes nothing larger",
    arguments: Implementation.all)
  func limits(implementation: Implementation) async throws {
    let limits = small {
      ($0.rowBytes, $0.tableBytes, $0.tables, $0.bytes) = (30, 60, 2, 100)
    }
    try await implementation.withStorage(limits: limits) { storage in
      func refused(_ limit: String, _ id: String, _ text: String, in table: String) async throws {
        do {
          try await storage.put(id, text, in: table)
          Issue.record("\(limit) is not checked")
        } catch let error as DocumentError {
          guard case .refused(let refusal) = error.code else { throw error }
          #expect(refusal.code == .limit(limit))
        }
      }
      try await refused("rowBytes", "a", String(repeating: "1", count: 14), in: "t")
      try await refused("rowBytes", "a", "1", in: String(repeating: "n", count: 1025))
      for id in ["a", "b", "c"] { try await storage.put(id, "123", in: "t") }
      try await refused("tableBytes", "d", "1", in: "t")
      try await storage.put("a", "321", in: "t")
      try await storage.put("a", "123", in: "u")
      try await refused("tables", "a", "1", in: "v")
      try await refused("storageBytes", "b", "12345", in: "u")
      try await storage.remove("a", in: "t")
      try await storage.put("b", "12345", in: "u")
    }
  }

  @Test("notices have all changes, in order", arguments: Implementation.all)
  func notices(implementation: Implementation) async throws {
    try await implementation.withStorage { storage in
      var notices = storage.notices(of: "t").makeAsyncIterator()
      try await storage.put("a", in: "other")
      for number in 0..<50 { try await storage.put("a", "\(number)") }
      var position = TablePosition(rawValue: 0)
      while position.rawValue < 50 {
        let notice = try #require(await notices.next())
        // A node that reads the changes of others may read, and pass on, its own a second time.
        guard notice.position > position else { continue }
        #expect(notice.start <= position)
        position = notice.position
        #expect(notice.changes.map(\.words) == ["a=\(position.rawValue - 1)"])
      }
    }
  }

  private func small(_ change: (inout DocumentLimits) -> Void) -> DocumentLimits {
    var limits = DocumentLimits()
    change(&limits)
    return limits
  }
}
