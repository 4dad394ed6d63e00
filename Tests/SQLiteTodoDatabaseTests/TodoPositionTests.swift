// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import GRDB
import Sessions
import StorageTestSupport
import Testing

@testable import SQLiteFiles
@testable import SQLiteTodoDatabase

@Suite("Positions of todos")
struct TodoPositionTests {
  @Test("the order is correct after 10,000 moves to the same place", arguments: [true, false])
  func onePlace(atTheFront: Bool) throws {
    try withList { list in
      var others: [String] = []
      try list.add()
      if !atTheFront { try list.add() }
      let fixed = atTheFront ? ["1"] : ["1", "2"]
      let before = list.rowsWritten
      for _ in 1...10_000 {
        let id = try list.add()
        try list.perform(.move(id: id, before: fixed.last))
        others.append(id)
      }
      #expect(try list.ids == fixed.dropLast() + others + fixed.suffix(1))
      // An add and a move write eight rows, including the log. The other rows are those of
      // renumbering.
      #expect((list.rowsWritten - before) / 10_000 < 40)
    }
  }

  @Test("the order is correct after alternating moves to the front and to the end")
  func ends() throws {
    try withList { list in
      var expected: [String] = []
      for number in 1...2000 {
        let id = try list.add()
        try list.perform(.move(id: id, before: number.isMultiple(of: 2) ? expected.first : nil))
        expected.insert(id, at: number.isMultiple(of: 2) ? 0 : expected.count)
      }
      #expect(try list.ids == expected)
    }
  }

  @Test("the order matches a plain array after random operations in narrow gaps")
  func random() throws {
    try withList { list in
      var numbers = FixedNumbers(seed: 3)
      var expected = PlainList()
      for step in 1...10_000 {
        // Mostly at two places, so that the gaps there become exhausted.
        let ids =
          step.isMultiple(of: 5) ? expected.todos.map(\.id) : expected.todos.suffix(6).map(\.id)
        let operation = TodoOperation.random(on: ids, using: &numbers)
        expected.perform(operation, newID: list.nextID)
        try list.perform(operation)
        if step.isMultiple(of: 500) { #expect(try list.ids == expected.todos.map(\.id)) }
      }
      #expect(try list.ids == expected.todos.map(\.id))
    }
  }

  @Test("the order is correct when positions reach the minimum or the maximum")
  func lastNumber() throws {
    try withList { list in
      for _ in 1...3 { try list.add() }
      try list.db.execute(
        sql: "UPDATE todo SET position = CASE id WHEN x'31' THEN ? WHEN x'32' THEN 5 ELSE ? END",
        arguments: [Int64.min + 1, Int64.max - 1])
      try list.add()
      try list.perform(.move(id: "2", before: "1"))
      #expect(try list.ids == ["2", "1", "3", "4"])
    }
  }

  @Test(
    "a position between two others is found if there is one",
    arguments: [
      (nil, nil, 0), (0, nil, 1 << 32), (nil, 0, -1 << 32), (0, 2, 1), (0, 1, nil), (-1, 1, 0),
      (.min + 1, .max - 1, -1), (.max - 1, nil, nil), (.max - 2, nil, .max - 1),
      (.max - (1 << 32), nil, .max - (1 << 31)), (nil, .min + 1, nil), (nil, .min + 2, .min + 1),
      (-7, -2, -5),
    ] as [(Int64?, Int64?, Int64?)])
  func between(below: Int64?, above: Int64?, expected: Int64?) {
    #expect(Gap.between(below, above) == expected)
  }

  @Test(
    "positions are spread evenly, strictly between their neighbours",
    arguments: [
      (1, nil, nil), (32, nil, nil), (3, 0, 4), (5, 0, 100), (4, .min, .max), (33, .min, nil),
      (33, nil, .max), (33, .max - 1000, nil), (33, nil, .min + 1000), (2, nil, 0),
    ] as [(Int, Int64?, Int64?)])
  func spread(count: Int, low: Int64?, high: Int64?) {
    let (positions, step) = Gap.spread(count, between: low, high)
    #expect(positions.count == count)
    #expect(step > 0)
    for (one, next) in zip(positions, positions.dropFirst()) {
      #expect(UInt64(bitPattern: next &- one) == step && one < next)
    }
    if let low { #expect(low < positions[0]) }
    if let high { #expect(positions[count - 1] < high) }
  }
}

/// A list in an in-memory database, in one transaction.
private struct OneList {
  let db: GRDB.Database
  private let made = CountedIDs()

  init(db: GRDB.Database) { self.db = db }

  var nextID: String { made.next }

  @discardableResult
  func add() throws -> String {
    let id = nextID
    try perform(.add(title: "title"))
    return id
  }

  func perform(_ operation: TodoOperation) throws {
    _ = try TodoTransaction(db: db, list: "default", logLength: 10, makeID: made.make)
      .perform(operation)
  }

  var ids: [String] {
    get throws { try StoredList(named: "default", in: db)?.todos().todos.map(\.id) ?? [] }
  }

  var rowsWritten: Int { db.totalChangesCount }
}

private func withList(_ body: (OneList) throws -> Void) throws {
  let database = try DatabaseQueue()
  try DatabaseMigrator([TodoDatabase.schema]).migrate(database)
  try database.write { db in try body(OneList(db: db)) }
}
