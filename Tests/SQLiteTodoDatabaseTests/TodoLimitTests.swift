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

/// Limits of lists in the database. Without them, one client could add so many titles that the list
/// can no longer be sent to any client.
@Suite("Limits of lists in the database", .timeLimit(.minutes(5)))
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

  @Test("an operation that makes the list too large is refused, and changes nothing")
  func list() async throws {
    try await withFolder { folder in
      let ids = CountedIDs()
      // Two todos, each with a title and an id of one byte, and ten further bytes.
      let limits = limits(list: TodoSize(todos: 3, bytes: 2 * (TodoSize.bytesPerTodo + 2) + 10))
      let database = TodoDatabase(folder, limits: limits, ids: ids)
      let store = try await Host(database)
      try await store.send(.load)
      try await store.add("a", "b")
      #expect(await store.refused(.add(title: "c")) == "todoBytesPerList")
      #expect(await store.refused(.rename(id: "1", title: "elevenbytes")) == nil)
      #expect(await store.refused(.rename(id: "2", title: "bb")) == "todoBytesPerList")
      // Operations that keep or reduce the size.
      #expect(await store.refused(.rename(id: "2", title: "c")) == nil)
      #expect(await store.refused(.add(title: "again", id: "2")) == nil)
      #expect(await store.refused(.complete(id: "2")) == nil)
      #expect(await store.refused(.remove(id: "1")) == nil)
      #expect(await store.refused(.add(title: "c")) == nil)
      #expect(await store.todos.map(\.title) == ["c", "c"])
      #expect(try await database.countedSizes() == (try await database.keptSizes()))
      await store.close()
      await database.close()
    }
  }

  @Test("the number of todos is limited, for each list and for the database")
  func todos() async throws {
    try await withFolder { folder in
      let limits = limits(
        list: TodoSize(todos: 2, bytes: 1000), database: TodoSize(todos: 3, bytes: 1000))
      let database = TodoDatabase(folder, limits: limits)
      let (one, other) = (try await Host(database), try await Host(database, list: "other"))
      try await one.add("a", "b")
      #expect(await one.refused(.add(title: "c")) == "todosPerList")
      #expect(await other.refused(.add(title: "a", id: "x")) == nil)
      #expect(await other.refused(.add(title: "b")) == "todosPerDatabase")
      // The refused operation has not created the list.
      let third = try await Host(database, list: "third")
      #expect(await third.refused(.add(title: "b")) == "todosPerDatabase")
      #expect(try await database.version(of: "third") == nil)
      #expect(await other.refused(.remove(id: "x")) == nil)
      #expect(await third.refused(.add(title: "b")) == nil)
      #expect(try await database.countedSizes() == (try await database.keptSizes()))
      for store in [one, other, third] { await store.close() }
      await database.close()
    }
  }

  @Test("the names of lists count towards the bytes of the database")
  func names() async throws {
    try await withFolder { folder in
      let database = TodoDatabase(
        folder, limits: limits(database: TodoSize(todos: 1000, bytes: 2000)))
      var made = 0
      for number in 0..<100 {
        let store = try await Host(database, list: "list \(number)")
        made += await store.refused(.add(title: "a", id: "a")) == nil ? 1 : 0
        try await store.perform(.remove(id: "a"))
        await store.close()
      }
      #expect((50...90).contains(made))
      await database.close()
    }
  }

  @Test("a refusal is part of the state if no request waits for the input")
  func refusalInState() async throws {
    try await withFolder { folder in
      let database = TodoDatabase(
        folder, limits: limits(list: TodoSize(todos: 1, bytes: 1000)))
      let store = try await Host(database)
      try await store.add("a", "b")
      #expect(await store.answers == ["done", "failed", "refused"])
      await store.close()
      await database.close()
    }
  }

  @Test("two processes that add todos at the same time stay within the limit")
  func writers() async throws {
    try await withFolder { folder in
      let limits = limits(list: TodoSize(todos: 50, bytes: 100_000))
      let databases = [1, 2].map { _ in
        TodoDatabase(in: SharedDatabase(folder, TodoDatabase.schema), limits: limits)
      }
      let refused = try await withThrowingTaskGroup(of: Int.self) { group in
        for database in databases {
          let store = try await Host(database)
          group.addTask {
            for number in 0..<40 { try await store.add("\(number)") }
            let refused = await store.answers.filter { $0 == "refused" }.count
            await store.close()
            return refused
          }
        }
        return try await group.reduce(0, +)
      }
      // On a busy machine, one process may end before the other begins, and gets no refusal.
      #expect(refused == 30)
      #expect(try await databases[0].keptSizes().list["default"]?.todos == 50)
      #expect(try await databases[1].countedSizes() == (try await databases[0].keptSizes()))
      for database in databases { await database.close() }
    }
  }

  @Test("a store that shows the list refuses an input over the limit before it is accepted")
  func early() async throws {
    try await withFolder { folder in
      let database = TodoDatabase(
        folder, limits: limits(list: TodoSize(todos: 2, bytes: 1000)))
      let machine = TodoStore(repository: database.repository(list: "default"))
      let store = try await Host(machine)
      let add = TodoInput.todoAdded(title: try TodoTitle("a"))
      try await store.send(add)
      try await store.send(add)
      // The store does not know the size of the list yet.
      #expect(machine.refusal(of: add, in: try #require(await store.state)) == nil)
      try await store.send(.stateRequested)
      let state = try #require(await store.state)
      #expect(machine.refusal(of: add, in: state)?.code == .limit("todosPerList"))
      #expect(state.list.size == TodoSize(todos: 2, bytes: 2 * (TodoSize.bytesPerTodo + 2)))
      await store.close()
      await database.close()
    }
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
