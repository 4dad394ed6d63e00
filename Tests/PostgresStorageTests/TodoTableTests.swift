// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Documents
import PostgresConnections
import PostgresTestSupport
import Sessions
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import PostgresStorage

@Suite("Tables of lists and documents", .needsPostgres, .serialized, .timeLimit(.minutes(15)))
struct TodoTableTests {
  @Test("the order is correct after 10,000 moves to the same place", arguments: [true, false])
  func onePlace(atTheFront: Bool) throws {
    let database = try SharedDatabase(.common())
    func perform(_ operation: String, _ number: String, before: String = "NULL") -> String {
      """
      PERFORM statewire.todo_perform('l', ('\(operation)' || \(number))::bytea, '\(operation)',
        (\(number))::text::bytea, false, 't', \(before), 10, 200000, 10000000, 200000, 10000000);
      """
    }
    for first in stride(from: 1, to: 10_002, by: 250) {
      // A place before "1", or before "2". Without gaps, each operation would move all todos.
      try database.observer.run(
        """
        DO $do$ BEGIN
          FOR number IN \(first)..\(min(first + 249, 10_002)) LOOP
            \(perform("add", "number"))
            CONTINUE WHEN number <= 2;
            \(perform("move", "number", before: "'\(atTheFront ? 1 : 2)'"))
          END LOOP;
          IF pg_stat_get_xact_tuples_updated('statewire.todo'::regclass) > 40 * 250 THEN
            RAISE EXCEPTION 'too many rows were moved';
          END IF;
        END $do$
        """)
    }
    let order = try database.observer.run(
      "SELECT string_agg(convert_from(id, 'UTF8'), ' ' ORDER BY position) FROM statewire.todo"
    ).text(0, 0)
    let moved = (3...10_002).map { "\($0)" }
    let expected = atTheFront ? moved + ["1", "2"] : ["1"] + moved + ["2"]
    #expect(order == expected.joined(separator: " "))
  }

  @Test("after random operations, the stored sizes are those of the rows")
  func sizes() async throws {
    let database = try SharedDatabase(.common())
    let node = database.node()
    var numbers = FixedNumbers(seed: 5)
    for list in ["one", "two"] {
      let store = try await Host(node.todoLists, list: list)
      try await store.send(.load)
      for _ in 1...300 {
        try await store.perform(.random(on: await store.todos.map(\.id), using: &numbers))
      }
      await store.close()
    }
    for table in ["t", "u"] {
      for id in ["a", "b", "c"] { try await node.documents.put(id, "123", in: table) }
      try await node.documents.put("a", "12345678", in: table)
      try await node.documents.remove("b", in: table)
    }
    let wrong = try database.observer.run(
      """
      SELECT 'list' FROM statewire.todo_list l WHERE (todos, bytes) IS DISTINCT FROM (
          SELECT (count(*), coalesce(sum(length(id) + length(title) + 16), 0)::bigint)
            FROM statewire.todo WHERE list = l.id)
      UNION ALL SELECT 'table' FROM statewire.document_table t WHERE (rows, bytes) IS DISTINCT FROM (
          SELECT (count(*), coalesce(sum(length(id) + length(value) + 16), 0)::bigint)
            FROM statewire.document_row WHERE table_id = t.id)
      UNION ALL SELECT 'lists' WHERE
        (SELECT (sum(count), sum(bytes)) FROM statewire.total WHERE kind = 'todo') IS DISTINCT FROM
        (SELECT (sum(todos), sum(bytes + length(name) + 16)) FROM statewire.todo_list)
      UNION ALL SELECT 'tables' WHERE
        (SELECT (sum(count), sum(bytes)) FROM statewire.total WHERE kind = 'document')
          IS DISTINCT FROM (SELECT (count(*)::numeric, sum(bytes)) FROM statewire.document_table)
      """)
    #expect((0..<wrong.count).map { wrong.text($0, 0) } == [])
    node.close()
  }

  @Test("old ids of operations are forgotten, except the last ones")
  func forgetting() throws {
    let database = try SharedDatabase(.common())
    try database.observer.run(
      """
      INSERT INTO statewire.operation (id, version, performed)
        SELECT n::text::bytea, 1, clock_timestamp() - make_interval(mins => 100 - n)
          FROM generate_series(1, 100) AS n
      """)
    for (kept, count) in [(95, 95), (5, 10)] as [(Int, Int64)] {
      try database.observer.run("SELECT statewire.forget_operations(\(kept))")
      let rows = try database.observer.run("SELECT count(*) FROM statewire.operation")
      #expect(rows.integer(0, 0) == count)
    }
  }
}
