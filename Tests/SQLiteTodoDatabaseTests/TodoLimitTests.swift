// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import GRDB
import StateMachines
import StatewireJSON
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteFiles
@testable import SQLiteTodoDatabase
@testable import StoredTodoLists

/// Limits of lists in the database. Without them, one client could add so many titles that the list
/// can no longer be sent to any client.
@Suite("Limits of lists in the database", .timeLimit(.minutes(15)))
struct TodoLimitTests {
  private func limits(
    list: TodoSize = TodoSize(todos: 1000, bytes: 100_000),
    database: TodoSize = TodoSize(todos: 1000, bytes: 100_000)
  ) -> TodoLimits {
    var limits = TodoLimits()
    limits.list = list
    limits.database = database
    return limits
  }

  @Test("after random operations, the stored sizes and the store's size are correct")
  func random() async throws {
    try await withFolder { folder in
      var numbers = SystemRandomNumberGenerator()
      let database = TodoDatabase(folder)
      let store = try await Host(TodoStore(repository: database.repository(list: "default")))
      let probe = try await Host(database)
      try await store.send(.stateRequested)
      for step in 1...400 {
        let ids = await store.state?.list.todos.map(\.id) ?? []
        try await probe.perform(.random(on: ids, using: &numbers))
        guard step.isMultiple(of: 100) else { continue }
        let kept = try await database.keptSizes()
        #expect(try await database.countedSizes() == kept)
        let last = try await database.version(of: "default")
        try await store.send(.stateRequested)
        #expect(try await database.version(of: "default") == last)
        #expect(await store.state?.list.size == kept.list["default"])
      }
      await store.close()
      await probe.close()
      await database.close()
    }
  }

  @Test("the migration of an earlier version computes the sizes of the lists")
  func migration() throws {
    let database = try DatabaseQueue()
    try DatabaseMigrator([TodoDatabase.schema]).migrate(database, upTo: "operations")
    try database.write { db in
      try db.execute(
        sql: """
          INSERT INTO todoList (name, version) VALUES (CAST('one' AS BLOB), 1),
            (CAST('empty' AS BLOB), 1), (CAST('two' AS BLOB), 1);
          INSERT INTO todo (list, position, id, title, completed) VALUES
            (1, 1, CAST('a' AS BLOB), CAST('Ä' AS BLOB), 0),
            (1, 2, CAST('b' AS BLOB), CAST('title' AS BLOB), 1),
            (3, 1, CAST('c' AS BLOB), CAST('x' AS BLOB), 0);
          """)
    }
    try DatabaseMigrator([TodoDatabase.schema]).migrate(database)
    try database.write { db in
      let sizes = try Sizes(kept: db)
      #expect(sizes.list["one"] == TodoSize(todos: 2, bytes: 3 + 6 + 2 * TodoSize.bytesPerTodo))
      #expect(sizes.list["empty"] == TodoSize())
      #expect(try Sizes(counted: db) == sizes)
      try db.execute(
        sql: """
          UPDATE todo SET title = CAST('longer' AS BLOB) WHERE list = 3;
          DELETE FROM todo WHERE list = 1 AND position = 2;
          """)
      #expect(try Sizes(counted: db) == Sizes(kept: db))
    }
  }
}

extension Host where Machine == Probe {
  /// Sends an operation as a request that settles later.
  ///
  /// - Returns: The limit that refuses the operation; nil if it succeeds.
  fileprivate func refused(_ operation: TodoOperation) async -> String? {
    guard let inputID = try? begin(.perform(operation)) else { return "closed" }
    respondsAtEnd(of: inputID)
    guard case .limit(let name)? = await settlement(of: inputID)?.refusal?.code else { return nil }
    return name
  }
}

/// The size of each list in a database, and the total size.
private struct Sizes: Equatable, Sendable {
  var list: [String: TodoSize] = [:]
  var total = TodoSize()

  /// Reads the stored sizes.
  init(kept db: GRDB.Database) throws {
    for row in try Row.fetchAll(db, sql: "SELECT name, todos, bytes FROM todoList") {
      list[try row.text(0) ?? ""] = TodoSize(todos: row[1], bytes: row[2])
    }
    total = try db.size(.total, [])
  }

  /// Computes the sizes from the todos.
  init(counted db: GRDB.Database) throws {
    for row in try Row.fetchAll(db, sql: "SELECT id, name FROM todoList") {
      var size = TodoSize()
      for todo in try Row.fetchAll(
        db, sql: "SELECT id, title FROM todo WHERE list = ?", arguments: [row[0] as Int64])
      {
        size += TodoSize(Todo(id: try todo.text(0) ?? "", title: try todo.text(1) ?? ""))
      }
      let name = try row.text(1) ?? ""
      list[name] = size
      total += size + TodoSize(bytes: name.utf8.count + TodoSize.bytesPerTodo)
    }
  }
}

extension TodoDatabase {
  fileprivate func keptSizes() async throws -> Sizes {
    try await file.write { try Sizes(kept: $0) }
  }

  fileprivate func countedSizes() async throws -> Sizes {
    try await file.write { try Sizes(counted: $0) }
  }
}
