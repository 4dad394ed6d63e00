// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Documents
import PostgresConnections
import PostgresStorage
import PostgresTestSupport
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@Suite("Outages of the database with lists", .needsPostgres, .serialized, .timeLimit(.minutes(15)))
struct OutageTests {
  /// A slow machine needs longer than the default to start its database again.
  private let patient: PostgresStorage.Options = {
    var options = PostgresStorage.Options()
    options.patience = .seconds(600)
    return options
  }()

  @Test(
    "operations in progress are carried out once and in order, and feeds continue",
    arguments: ["restart", "kill", "disconnect"])
  func operations(how: String) async throws {
    let database = try SharedDatabase(PostgresServer())
    let complaints = RecordedFailures()
    let node = database.node("a", patient, complaints: complaints)
    let (store, other) = (try await Host(node.todoLists), try await Host(node.todoLists))
    for store in [store, other] { try await store.send(.load) }
    var last: InputID?
    for round in 0..<3 {
      for number in 1...200 {
        last = try await store.begin(.perform(.add(title: "\(round * 200 + number)")))
      }
      switch how {
      case "restart":
        try database.server.stop()
        try database.server.start()
      case "kill":
        try database.server.kill()
        try database.server.start()
      default: try database.disconnect()
      }
    }
    await store.settlement(of: try #require(last))
    await store.until { $0.results.count == 600 }
    #expect(await store.results == Array(repeating: "done", count: 600))
    await other.until { $0.list.todos.count == 600 }
    let expected = (1...600).map { "\($0)" }
    #expect(await store.todos.map(\.title) == expected)
    #expect(await other.todos.map(\.title) == expected)
    #expect(await store.fed.count { $0.hasPrefix("list") } == 1)
    #expect(complaints.all.isEmpty)
    for store in [store, other] { await store.close() }
    node.close()
  }

  @Test("operations that begin while the connection is lost keep their order")
  func losses() async throws {
    let database = try SharedDatabase(.common())
    let node = database.node("a", patient)
    let store = try await Host(node.todoLists)
    try await store.send(.load)
    var last: InputID?
    for round in 0..<100 {
      async let cut: Void = Task { try database.disconnect() }.value
      for number in 1...10 {
        last = try await store.begin(.perform(.add(title: "\(round * 10 + number)")))
      }
      try await cut
    }
    await store.settlement(of: try #require(last))
    await store.until { $0.results.count == 1_000 }
    #expect(await store.results.allSatisfy { $0 == "done" })
    #expect(await store.todos.map(\.title) == (1...1_000).map { "\($0)" })
    await store.close()
    node.close()
  }

  @Test("updates in progress are carried out once", arguments: ["kill", "disconnect"])
  func updates(how: String) async throws {
    let database = try SharedDatabase(PostgresServer())
    let nodes = [database.node("a", patient), database.node("b", patient)]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, node) in nodes.enumerated() {
        for task in 0..<4 {
          group.addTask {
            for round in 0..<50 {
              _ = try await node.documents.update(
                "t", reading: ["n"], once: "\(number) \(task) \(round)"
              ) { rows, next in
                let old = rows[0].flatMap { Int(String(decoding: $0.value, as: UTF8.self)) } ?? 0
                return [.put(stored("n", "\(old + 1)")), .put(stored("\(next.rawValue + 1)"))]
              }
            }
          }
        }
      }
      for _ in 0..<5 {
        if how == "kill" {
          try database.server.kill()
          try database.server.start()
        } else {
          try database.disconnect()
        }
      }
      try await group.waitForAll()
    }
    let rows = try await nodes[0].documents.contents()
    #expect(rows.count == 401 && rows.first == "n=400")
    for node in nodes { node.close() }
  }

  @Test("work fails after the patience, with one line in the log, and then succeeds again")
  func unreachable() async throws {
    let database = try SharedDatabase(PostgresServer())
    var options = PostgresStorage.Options()
    options.patience = .milliseconds(300)
    let complaints = RecordedFailures()
    let node = database.node("a", options, complaints: complaints)
    let store = try await Host(node.todoLists)
    try await store.send(.load)
    try await store.add("a")
    try database.server.kill()
    // One that is in progress is repeated until its outcome is known; later ones are not sent.
    _ = try await store.begin(.perform(.complete(id: "unknown")))
    await #expect(
      throws: DocumentError(.unavailable, "the storage cannot be used now")
    ) {
      while true { try await node.documents.put("a") }
    }
    try await store.add("secret", "secret")
    #expect(await store.results.suffix(2) == ["failed", "failed"])
    let late = try await Host(node.todoLists)
    try await late.send(.load)
    #expect(await late.fed == ["failed"])
    let balance = try await Host(BalanceStore(service: node.ledger))
    try await balance.send(.viewDidAppear)
    #expect(await balance.state?.didFail == true)
    #expect(complaints.all.count == 1 && !complaints.all.description.contains("secret"))
    try database.server.start()
    await eventually("the database is used again") {
      (try? await node.documents.put("a")) != nil
    }
    try await store.add("b")
    // The feed has not ended.
    #expect(await store.fed == ["list of 0", "add a", "add b"])
    #expect(complaints.all.count == 1)
    for store in [store, late] { await store.close() }
    await balance.close()
    node.close()
  }

  /// Lets a database refuse inserts for lack of space: the first attempts to write to the first table,
  /// and meanwhile those to write to the others.
  private func refuseInserts(
    into tables: [String], attempts: Int, in database: SharedDatabase
  ) throws {
    // A sequence counts also in transactions that are rolled back.
    try database.observer.run("CREATE SEQUENCE statewire.attempts")
    try database.observer.run(
      """
      CREATE FUNCTION statewire.refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
          IF TG_TABLE_NAME = '\(tables[0])' THEN PERFORM nextval('statewire.attempts'); END IF;
          IF (SELECT last_value FROM statewire.attempts) <= \(attempts) THEN
            RAISE EXCEPTION 'refused' USING ERRCODE = '53100';
          END IF;
          RETURN NULL;
        END $$
      """)
    for table in tables {
      try database.observer.run(
        """
        CREATE TRIGGER refusing BEFORE INSERT ON statewire.\(table)
          EXECUTE FUNCTION statewire.refuse()
        """)
    }
  }

  private func isRefusing(_ database: SharedDatabase) async {
    await eventually("the first write was refused") {
      (try? database.observer.run("SELECT last_value FROM statewire.attempts"))?
        .integer(0, 0) ?? 0 >= 2
    }
  }

  @Test("work waits for a database without space, in its order, and is carried out once")
  func waitsForSpace() async throws {
    let database = try SharedDatabase(.common())
    let complaints = RecordedFailures()
    let node = database.node(complaints: complaints)
    let store = try await Host(node.todoLists)
    try await store.send(.load)
    try refuseInserts(into: ["document_row", "todo"], attempts: 3, in: database)
    async let put = node.documents.put("b")
    await isRefusing(database)
    async let added: Void = store.add("a")
    _ = try await put
    try await added
    #expect(await store.fed == ["list of 0", "add a"])
    #expect(complaints.all == [])
    await store.close()
    node.close()
  }

  @Test("a write that was refused is carried out before later ones that were in progress")
  func keepsOrder() async throws {
    let database = try SharedDatabase(.common())
    let complaints = RecordedFailures()
    let node = database.node(complaints: complaints)
    let store = try await Host(node.todoLists)
    try await store.send(.load)
    try refuseInserts(into: ["todo"], attempts: 2, in: database)
    var last: InputID?
    for number in 1...50 { last = try await store.begin(.perform(.add(title: "\(number)"))) }
    await store.settlement(of: try #require(last))
    await store.until { $0.results.count == 50 }
    #expect(await store.results.allSatisfy { $0 == "done" })
    #expect(await store.todos.map(\.title) == (1...50).map { "\($0)" })
    #expect(complaints.all == [])
    await store.close()
    node.close()
  }

  @Test("a write that waits for space is carried out after later ones on other objects")
  func waitsBesideOthers() async throws {
    let database = try SharedDatabase(.common())
    let complaints = RecordedFailures()
    let node = database.node(complaints: complaints)
    let store = try await Host(node.todoLists)
    try await store.send(.load)
    try refuseInserts(into: ["todo"], attempts: 4, in: database)
    async let added: Void = store.add("a")
    await isRefusing(database)
    _ = try await node.documents.put("b")
    try await added
    #expect(await store.fed == ["list of 0", "add a"])
    #expect(complaints.all == [])
    await store.close()
    node.close()
  }

  @Test("after the patience a database without space or write access causes an error of its own")
  func full() async throws {
    let database = try SharedDatabase(.common())
    var options = PostgresStorage.Options()
    options.patience = .milliseconds(300)
    let complaints = RecordedFailures()
    let node = database.node("a", options, complaints: complaints)
    let store = try await Host(node.todoLists)
    try await store.send(.load)
    try await node.documents.put("a")
    for (code, error) in [
      ("53100", DocumentError(.full, "the disk of the storage is full")),
      ("25006", DocumentError(.readOnly, "the storage cannot be written")),
    ] {
      for table in ["todo", "document_row"] {
        try database.observer.run(
          """
          CREATE OR REPLACE FUNCTION statewire.refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '\(code)'; END $$
          """)
        try database.observer.run(
          """
          CREATE TRIGGER refusing BEFORE INSERT ON statewire.\(table)
            EXECUTE FUNCTION statewire.refuse()
          """)
      }
      await #expect(throws: error) { try await node.documents.put("b") }
      try await store.add("a")
      #expect(await store.results.last == "failed")
      for table in ["todo", "document_row"] {
        try database.observer.run("DROP TRIGGER refusing ON statewire.\(table)")
      }
      try await node.documents.put("b")
      try await node.documents.remove("b")
    }
    #expect(complaints.all.count == 2)
    try await store.add("a")
    #expect(await store.fed == ["list of 0", "add a"])
    await store.close()
    node.close()
  }
}
