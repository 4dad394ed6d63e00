// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import GRDB
import Testing

@testable import SQLiteFiles
@testable import SQLiteTodoDatabase
@testable import StoredTodoLists

@Suite("A list of 100,000 todos")
struct TodoStatementTests {
  @Test("each statement uses an index, and none scans the list")
  func plans() throws {
    try withLongList { db in
      for statement in TodoStatement.allCases {
        let explained = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(statement.rawValue)")
        explained.setUncheckedArguments([])
        for row in try Row.fetchAll(explained) {
          let step: String = row["detail"]
          #expect(step.hasPrefix("SEARCH ") && step.contains(" USING "), "\(statement): \(step)")
        }
      }
    }
  }

  @Test(
    "an operation on a long list writes as many rows as on a short one",
    arguments: [
      (.add(title: "new"), 5),
      (.rename(id: "50000", title: "new"), 5),
      (.complete(id: "50000"), 3),
      (.move(id: "50000", before: "10"), 3),
      (.move(id: "10", before: nil), 3),
      (.remove(id: "50000"), 5),
    ] as [(TodoOperation, Int)])
  func rows(operation: TodoOperation, expected: Int) throws {
    try withLongList { db in
      let before = db.totalChangesCount
      let news = try TodoTransaction(db: db, list: "long", logLength: 1000) { "new" }
        .perform(operation)
      #expect(news.change != nil)
      #expect(db.totalChangesCount - before == expected)
    }
  }
}

private func withLongList(_ body: (GRDB.Database) throws -> Void) throws {
  let database = try DatabaseQueue()
  try DatabaseMigrator([TodoDatabase.schema]).migrate(database)
  try database.write { db in
    try db.execute(
      sql: """
        INSERT INTO todoList (name, version) VALUES (CAST('long' AS BLOB), 1);
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100000)
        INSERT INTO todo (list, position, id, title, completed)
        SELECT 1, n * 4294967296, CAST(n AS BLOB), CAST('Todo ' || n AS BLOB), 0 FROM number;
        ANALYZE;
        """)
    try body(db)
  }
}
