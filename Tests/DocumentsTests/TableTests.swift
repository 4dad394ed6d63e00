// SPDX-License-Identifier: Apache-2.0

import Documents
import StateMachines
import StateMachinesTesting
import StatewireJSON
import TestSupport
import Testing

@Suite("Tables")
struct TableTests {
  private typealias Entry = GuestBook.Entry

  private func opened(
    _ table: Table<GuestBook.Entry> = entries()
  ) async throws -> TestStore<GuestBook> {
    let store = TestStore(GuestBook(entries: table))
    try await store.receive { $0.entries = TableRows([], position: 0) }
    return store
  }

  @Test("an update reaches the state before the action after it")
  func order() async throws {
    let store = try await opened()
    try await store.send(.signed(name: "Ann"))
    try await store.receive(
      .changed(TableChange([.put(Entry(id: 1, name: "Ann"))], position: 1))
    ) { $0.entries = TableRows([Entry(id: 1, name: "Ann")], position: 1) }
    try await store.receive(.done) { $0.done = 1 }
    try await store.finish()
  }

  @Test("puts, changes and removes rows, and keeps their order")
  func changes() async throws {
    let store = try await opened()
    let steps: [(GuestBook.Input, [Entry])] = [
      (.signed(name: "Ann"), [Entry(id: 1, name: "Ann")]),
      (.signed(name: "Bob"), [Entry(id: 1, name: "Ann"), Entry(id: 2, name: "Bob")]),
      (.renamed(id: 1, name: "Anna"), [Entry(id: 1, name: "Anna"), Entry(id: 2, name: "Bob")]),
      (.put(id: 1, name: "A"), [Entry(id: 1, name: "A"), Entry(id: 2, name: "Bob")]),
      (.removed(id: 1), [Entry(id: 2, name: "Bob")]),
      (.put(id: 1, name: "A"), [Entry(id: 2, name: "Bob"), Entry(id: 1, name: "A")]),
    ]
    for (number, (input, rows)) in steps.enumerated() {
      try await store.send(input)
      let position = TablePosition(rawValue: Int64(number + 1))
      try await store.receive { $0.entries = TableRows(rows, position: position) }
      try await store.receive(.done) { $0.done += 1 }
    }
    // Nothing changes, so nothing is delivered.
    for input in [GuestBook.Input.put(id: 1, name: "A"), .removed(id: 7)] {
      try await store.send(input)
      try await store.receive(.done) { $0.done += 1 }
    }
    try await store.finish()
  }

  @Test("an update that throws a refusal refuses the input")
  func refusal() async throws {
    let store = try await opened()
    try await store.send(.renamed(id: 7, name: "X"))
    let refusal = try await store.receive(refusal: .value)
    #expect(refusal.message == "no such entry" && refusal.member == "id")
    try await store.receive { $0.failure = "no such entry" }
    try await store.finish()
  }

  @Test("all stores of a table see a change")
  func sharing() async throws {
    let storage = MemoryDocumentStorage()
    let (one, two) = (
      try await opened(entries(in: storage)), try await opened(entries(in: storage))
    )
    try await one.send(.signed(name: "Ann"))
    for store in [one, two] {
      try await store.receive { $0.entries = TableRows([Entry(id: 1, name: "Ann")], position: 1) }
    }
    try await one.receive(.done) { $0.done = 1 }
    for store in [one, two] { try await store.finish() }
  }

  @Test("a failed operation gives its failure, and changes nothing")
  func faults() async throws {
    let store = try await opened()
    for (operation, input) in [
      ("entries.append", GuestBook.Input.signed(name: "Ann")),
      ("entries.update", .renamed(id: 1, name: "Ann")), ("entries.put", .put(id: 1, name: "Ann")),
      ("entries.remove", .removed(id: 1)),
    ] {
      await store.inject(.fail, into: operation)
      try await store.send(input)
      try await store.receive { $0.failure = "an injected fault" }
    }
    try await store.finish()
  }

  @Test("a watch that cannot read tries again, and then continues")
  func watchFails() async throws {
    let table = entries()
    let store = TestStore(GuestBook(entries: table))
    await store.inject(.fail, into: "entries.read", times: 2)
    // One failure that lasts is delivered once.
    try await store.receive { $0.failure = "an injected fault" }
    // Updates do not wait for a watch that has failed.
    try await store.send(.signed(name: "Ann"))
    try await store.receive(.done) { $0.done = 1 }
    try await store.advance(by: .seconds(3))
    try await store.receive {
      $0.entries = TableRows([Entry(id: 1, name: "Ann")], position: 1)
      $0.failure = nil
    }
    try await store.finish()
  }

  @Test("an update that was carried out before a restart is not carried out again")
  func once() async throws {
    let store = try await opened()
    try await store.send(.signedAndWaited(name: "Ann"))
    try await store.receive { $0.entries = TableRows([Entry(id: 1, name: "Ann")], position: 1) }
    try await store.restart()
    try await store.receive(.changed(TableChange([], position: 1)))
    try await store.advance(by: .seconds(1))
    try await store.receive(.done) { $0.done = 1 }
    try await store.finish()
  }

  @Test("all writes of one input are carried out, each of them once")
  func severalWrites() async throws {
    let store = try await opened()
    try await store.send(.signedTwice(name: "Ann"))
    let steps = [["Ann"], ["Ann", "Ann"], ["Ann!", "Ann"], ["Ann!?", "Ann"]]
    for (number, names) in steps.enumerated() {
      try await store.receive {
        $0.entries = TableRows(
          names.enumerated().map { Entry(id: $0 + 1, name: $1) },
          position: TablePosition(rawValue: Int64(number + 1)))
      }
    }
    for _ in 0..<2 {
      try await store.restart()
      try await store.receive(.changed(TableChange([], position: 4)))
    }
    try await store.advance(by: .seconds(1))
    try await store.receive(.done) { $0.done = 1 }
    try await store.finish()
  }

  @Test("a restarted store gets what it has missed, and begins its updates again")
  func restart() async throws {
    let table = entries()
    let store = try await opened(table)
    try await store.send(.signed(name: "Ann"))
    try await store.receive { $0.entries = TableRows([Entry(id: 1, name: "Ann")], position: 1) }
    try await store.receive(.done) { $0.done = 1 }
    // The process ends before the update is carried out.
    await store.inject(.delay(.seconds(1)), into: "entries.append")
    try await store.send(.signed(name: "Bob"))
    try await store.restart()
    try await store.receive(.changed(TableChange([], position: 1))) {
      $0.entries = TableRows([Entry(id: 1, name: "Ann")], position: 1)
    }
    try await store.receive {
      $0.entries = TableRows(
        [Entry(id: 1, name: "Ann"), Entry(id: 2, name: "Bob")], position: 2)
    }
    try await store.receive(.done) { $0.done = 2 }
    try await store.finish()
  }

  @Test("a newer watch replaces an older one")
  func replacing() async throws {
    let store = try await opened()
    try await store.send(.watched)
    try await store.receive(.changed(TableChange([], position: 0)))
    try await store.send(.signed(name: "Ann"))
    try await store.receive { $0.entries = TableRows([Entry(id: 1, name: "Ann")], position: 1) }
    try await store.receive(.done) { $0.done = 1 }
    try await store.finish()
  }

  @Test("rows that were read before a later change are not given after it")
  func changeWhileReading() async throws {
    let reads = HeldReads()
    let store = try await opened(entries(in: reads))
    let gate = Gate()
    reads.hold(at: gate)
    try await store.send(.watched)
    // The newer watch has read the table; the older one gives a change before the newer one gives that.
    try await store.advance(by: .zero)
    try await gate.holds(1)
    let row = StoredRow(id: "1", version: 1, value: Array(#"{"id":1,"name":"Ann"}"#.utf8))
    _ = try await reads.update("entries", reading: [], once: nil) { _, _ in [.put(row)] }
    let change = TableChange([.put(Entry(id: 1, name: "Ann"))], position: 1)
    try await store.receive(.changed(change)) {
      $0.entries = TableRows([Entry(id: 1, name: "Ann")], position: 1)
    }
    gate.open()
    try await store.receive(.changed(change))
    try await store.finish()
  }
}

// MARK: - Versions

extension TableTests {
  private struct Old: Codable, Equatable, Identifiable, Sendable {
    let id: Int
    var title: String
  }
  private struct New: Codable, Equatable, Identifiable, Sendable {
    let id: Int
    var name: String
    var stars = 3
  }

  /// The rows of a table, or the error of reading them.
  private func read<Row>(_ table: Table<Row>) async throws -> Result<[Row], DocumentError> {
    let store = TestStore(Reader(table: table), exhaustive: false)
    try await store.receive()
    let state = await store.state
    await store.cancelAll()
    return state.failure.map { .failure($0) } ?? .success(Array(state.rows.rows))
  }

  private struct Reader<Row: Codable & Identifiable & Sendable>: StateMachine
  where Row.ID: KeyedListID {
    enum Action: Sendable {
      case changed(TableChange<Row>)
      case failed(DocumentError)
    }
    struct State: Sendable {
      var rows = TableRows<Row>()
      var failure: DocumentError?
    }
    let table: Table<Row>
    var initialState: State { State() }
    var initialEffect: Effect<Action> {
      table.watch(failing: Action.failed, as: Action.changed)
    }
    func effect(of input: Int, in state: State) -> Effect<Action> { .none }
    func reduce(_ state: inout State, _ action: Action) {
      switch action {
      case .changed(let change): state.rows.apply(change)
      case .failed(let error): state.failure = error
      }
    }
    func view(of state: State) -> Int { state.rows.rows.count }
  }

  private func stored(_ version: Int, _ text: String) async throws -> MemoryDocumentStorage {
    let storage = MemoryDocumentStorage()
    let row = StoredRow(id: "1", version: version, value: Array(text.utf8))
    _ = try await storage.update("rows", reading: [], once: nil) { _, _ in [.put(row)] }
    return storage
  }

  @Test("members that a row lacks are filled in")
  func defaults() async throws {
    let storage = try await stored(1, #"{"id":1,"name":"a"}"#)
    let defaults = New(id: 0, name: "")
    #expect(
      try await read(Table<New>("rows", in: storage, defaults: defaults)).get()
        == [New(id: 1, name: "a")])
  }

  @Test("rows of an older version are migrated")
  func migration() async throws {
    let storage = try await stored(1, #"{"id":1,"title":"a"}"#)
    let table = Table<New>("rows", in: storage, version: 2, defaults: New(id: 0, name: "")) {
      version, row in
      #expect(version == 1)
      var members = row.object ?? [:]
      members["name"] = members.removeValue(forKey: "title")
      return .object(members)
    }
    #expect(try await read(table).get() == [New(id: 1, name: "a")])
  }

  @Test("a row that does not fit is an error that names it, and stays as it is")
  func unreadable() async throws {
    let storage = try await stored(1, #"{"id":1,"title":"a"}"#)
    await #expect(
      throws: DocumentError(
        .unreadable,
        #"the row "1" of the table "rows" cannot be read: a member is missing at /name"#)
    ) { try await read(Table<New>("rows", in: storage)).get() }
    let newer = Table<Old>("rows", in: try await stored(2, #"{"id":1,"title":"a"}"#))
    let error = await #expect(throws: DocumentError.self) { try await read(newer).get() }
    #expect(
      error?.message.contains("it has version 2, and this program reads versions up to 1") == true)
    #expect(try await read(Table<Old>("rows", in: storage)).get() == [Old(id: 1, title: "a")])
  }
}

/// Documents in memory of which a read can be held at a gate after it has read.
private final class HeldReads: DocumentStorage {
  private let storage = MemoryDocumentStorage()
  private let gate = Lock<Gate?>(nil)

  /// Holds the next read.
  func hold(at gate: Gate) { self.gate.withLock { $0 = gate } }

  func read(
    _ table: String, after position: TablePosition?
  ) async throws(DocumentError) -> StoredRows {
    let rows = try await storage.read(table, after: position)
    await gate.withLock { gate in
      defer { gate = nil }
      return gate
    }?.wait()
    return rows
  }

  func update(
    _ table: String, reading ids: [String], once operation: String?,
    _ change:
      @escaping @Sendable ([StoredRow?], _ next: TablePosition) throws(DocumentError) ->
      [StoredChange]
  ) async throws(DocumentError) -> TablePosition {
    try await storage.update(table, reading: ids, once: operation, change)
  }

  func notices(of table: String) -> AsyncStream<TableNotice> { storage.notices(of: table) }
}
