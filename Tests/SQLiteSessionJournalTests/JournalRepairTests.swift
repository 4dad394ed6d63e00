// SPDX-License-Identifier: Apache-2.0

import Foundation
import JournalTestSupport
import SQLiteFiles
import Sessions
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteSessionJournal

@Suite("Repair of a damaged session journal")
struct JournalRepairTests {
  @Test(
    "after damage, no input is applied twice, because its sequence number is lost only with it",
    arguments: [
      // The state contains the step, so the sequence number stays.
      (3, "a", 1, 3), (3, "a", 2, 3), (3, "a", 3, 3),
      // The step is lost, and so is the sequence number.
      (4, "a", 4, 3), (5, "b", 1, 4),
      // The lost step belongs to another store than the input.
      (5, "a", 5, 5),
    ] as [(Int, String, Int, Int)])
  func sequences(turns: Int, store: String, step: Int, last: Int) async throws {
    try await withFolder { folder in
      do {
        let (journal, handle) = try journal(folder, stores: ["a", "b"])
        func entries(_ turn: Int) -> [JournalEntry] {
          switch turn {
          case 3:
            [
              self.step(3, handle, "a"),
              JournalEntry(handle, .store("a", .state(.text([3]), revision: 3))),
              sequence(3, handle, "a"),
            ]
          case 5: [self.step(5, handle, "a"), self.step(1, handle, "b"), sequence(5, handle, "b")]
          default: [self.step(turn, handle, "a"), sequence(turn, handle, "a")]
          }
        }
        for turn in 1...turns { try journal.commit(entries(turn)) }
      }
      let id = (store == "a" ? 1 : 2) << StepRow.numberBits + Int64(step)
      try damage(folder, "UPDATE step SET data = zeroblob(length(data)) WHERE id = \(id)")
      let contents = try SQLiteJournal(folder: folder).load()
      #expect(!contents.damage.isEmpty)
      #expect(contents.sessions.first?.sequences.map(\.last) == [last])
    }
  }

  @Test("after an unreadable page, no revision is used that may already have been used")
  func cutRows() async throws {
    try await withFolder { folder in
      do {
        let (journal, handle) = try journal(folder, stores: ["a"])
        for number in 1...600 { try journal.commit([step(number, handle, "a")]) }
      }
      let path = URL(filePath: "\(folder)/sessions.sqlite")
      var bytes = try Data(contentsOf: path)
      let place = try #require(bytes.range(of: Data("step 300 of a".utf8)))
      // The page is now invalid.
      bytes[place.lowerBound / 4096 * 4096] = 0xFF
      try bytes.write(to: path)
      let contents = try SQLiteJournal(folder: folder).load()
      let store = try #require(contents.sessions.first?.stores.first)
      #expect(store.patches.count > 200 && store.patches.count < 300)
      #expect(store.revision > 600 && store.frames.isEmpty && store.lacksInputs)
    }
  }

  @Test("after damage, a store knows that inputs may be missing")
  func lostInputs() async throws {
    try await withFolder { folder in
      do {
        let (journal, handle) = try journal(folder, stores: ["a"])
        try journal.commit([
          JournalEntry(
            handle, .store("a", .accepted(operation: 1, epoch: 2, input: [0x31], at: .zero)))
        ])
        let store = try #require(try journal.load().sessions.first?.stores.first)
        #expect(!store.lacksInputs && store.accepted.first?.epoch == 2)
      }
      try damage(folder, "UPDATE accepted SET data = zeroblob(length(data))")
      let contents = try SQLiteJournal(folder: folder).load()
      let store = try #require(contents.sessions.first?.stores.first)
      #expect(store.lacksInputs && store.accepted.isEmpty)
    }
  }

  @Test("if the repair fails, the damaged file stays")
  func rescueFails() async throws {
    try await withFolder { folder in
      // A migration after which no second session can be written.
      let full = """
        CREATE TRIGGER full BEFORE INSERT ON session WHEN (SELECT count(*) FROM session) > 0
        BEGIN SELECT raise(ABORT, 'full'); END;
        """
      do {
        let journal = try SQLiteJournal(folder: folder)
        for number in 1...3 as ClosedRange<UInt64> { try open(["a"], number, journal) }
      }
      try damage(folder, "UPDATE state SET data = zeroblob(length(data)) WHERE id = 2")
      func load(_ step: String) throws -> JournalContents {
        let steps = JournalSchema.steps + [step]
        return try SQLiteJournal(folder: folder, durability: .process, steps: steps).load()
      }
      for _ in 1...2 { #expect(throws: StorageError.self) { try load(full) } }
      // Now all sessions can be written.
      let contents = try load("SELECT 1;")
      #expect(contents.sessions.count == 3 && contents.damage.count == 2)
      #expect(try load("SELECT 1;").text == contents.text)
    }
  }

  @Test("if a process is killed while it replaces the damaged file, the next one continues")
  func killedWhileReplacing() async throws {
    try await withFolder { folder in
      do { _ = try journal(folder, stores: ["a"]) }
      let text = try SQLiteJournal(folder: folder).load().text
      let (name, files) = ("\(folder)/sessions.sqlite", FileManager.default)
      // The damaged file is renamed, its log is not, and the new file does not have its name yet.
      try Data("damaged".utf8).write(to: URL(filePath: name + ".damaged-1"))
      try files.moveItem(atPath: name, toPath: name + ".new")
      try Data("log".utf8).write(to: URL(filePath: name + "-wal"))
      let contents = try SQLiteJournal(folder: folder).load()
      #expect(contents.text == text)
      #expect(contents.damage == [JournalFile.isNew(insteadOf: name + ".damaged-1")])
      #expect(try Data(contentsOf: URL(filePath: name + ".damaged-1-wal")) == Data("log".utf8))
      #expect(!files.fileExists(atPath: name + ".new"))
      #expect(try SQLiteJournal(folder: folder).load().damage == [])
    }
  }

  @Test("entries after a repair persist if the process is killed")
  func killedAfterRescue() async throws {
    try await withFolder { folder in
      do { _ = try journal(folder, stores: ["a"]) }
      try damage(folder, "UPDATE state SET data = zeroblob(length(data))")
      let journal = try SQLiteJournal(folder: folder)
      #expect(try journal.load().damage.count == 2)
      try open(["b"], 2, journal)
      let copy = try copy(of: folder)
      #expect(try SQLiteJournal(folder: copy).load().sessions.count == 2)
      withExtendedLifetime(journal) {}
    }
  }

  @Test("a process that is killed while it creates or migrates the file causes no damage")
  func killedWhileOpening() async throws {
    try await withFolder { folder in
      let place = DatabaseFolder(path: folder)
      try place.create()
      try place.createFile(JournalFile.name)
      let database = try JournalDatabase("\(folder)/\(JournalFile.name)")
      try database.execute("PRAGMA journal_mode = WAL")
      #expect(try SQLiteJournal(folder: copy(of: folder)).load().damage == [])
      // The transaction is committed, but only in the log.
      func setUp(_ step: String, _ version: Int) throws {
        try database.execute(
          """
          BEGIN; \(step)
          PRAGMA application_id = \(JournalFile.applicationID); PRAGMA user_version = \(version);
          COMMIT
          """)
      }
      for (number, step) in JournalSchema.steps.enumerated() { try setUp(step, number + 1) }
      #expect(try SQLiteJournal(folder: copy(of: folder)).load().damage == [])
      try setUp("", JournalSchema.steps.count + 1)
      let newer = try copy(of: folder)
      let error = #expect(throws: StorageError.self) { try SQLiteJournal(folder: newer) }
      #expect(error?.code == .newerVersion)
    }
  }

  @Test("stores get ids until all are used")
  func storeIDs() async throws {
    try await withFolder { folder in
      let database = try SQLiteJournal(folder: folder).database
      let index = try JournalIndex(database, maximumStoreID: 3)
      func newID() throws -> Int64 {
        let id = try index.newStoreID()
        try database.put(.putStore, id, [])
        return id
      }
      #expect(try [newID(), newID(), newID()] == [1, 2, 3])
      #expect(throws: SQLiteFailure.self) { try newID() }
      try database.run(.removeStore, .integer(2))
      #expect(try newID() == 2)
      // More stores than the limits of a server allow.
      #expect(StepRow.maximumStoreID > 10_000 * 1024)
      #expect(StepRow.ids(of: StepRow.maximumStoreID).upperBound == .max)
    }
  }

  @Test("rows that this process has written are not read to find the unneeded ones")
  func cleaning() async throws {
    try await withFolder { folder in
      let (journal, handle) = try journal(folder, stores: ["a"])
      for number in 1...500 { try journal.commit([step(number, handle, "a")]) }
      try journal.commit([JournalEntry(handle, .store("a", .state(.text([0x31]), revision: 500)))])
      let before = journal.database.rowsRead
      for number in 501...510 {
        try journal.commit([
          step(number, handle, "a"), JournalEntry(handle, .store("a", .trimmed(number - 490))),
        ])
      }
      #expect(journal.database.rowsRead == before)
      #expect(try rows(journal) == Array(21...510))
    }
  }

  @Test("after a failed transaction, a redaction and a second opening the right rows are removed")
  func cleaningAgain() async throws {
    try await withFolder { folder in
      let (journal, handle) = try journal(folder, stores: ["a"])
      func commit(_ events: [JournalEntry.StoreEvent], _ numbers: ClosedRange<Int>) throws {
        try journal.commit(
          numbers.map { step($0, handle, "a") }
            + events.map { JournalEntry(handle, .store("a", $0)) })
      }
      try commit([], 1...1)
      try commit([.state(.text([0x31]), revision: 2)], 2...2)
      try commit([.trimmed(1)], 3...3)
      #expect(try rows(journal) == [2, 3])
      // Several rows in one transaction.
      try journal.database.execute("PRAGMA query_only = ON")
      #expect(throws: (any Error).self) { try commit([.trimmed(3)], 4...400) }
      try journal.database.execute("PRAGMA query_only = OFF")
      #expect(try rows(journal) == [2, 3])
      try commit([], 4...4)
      try commit([.state(.text([0x31]), revision: 5), .trimmed(3)], 5...5)
      #expect(try rows(journal) == [4, 5])
      try commit([.redacted(4)], 6...6)
      #expect(try rows(journal) == [5, 6])
      try commit([.state(.text([0x31]), revision: 7), .redacted(6)], 7...7)
      #expect(try rows(journal) == [7])
      try commit([.closed], 8...8)
      #expect(try rows(journal) == [])
      try commit([.opened(kind: "kind", configuration: [], revision: 9)], 9...9)
      try commit([], 10...10)
      try commit([.state(.text([0x31]), revision: 11), .trimmed(9)], 11...11)
      #expect(try rows(journal) == [10, 11])
      try commit([.trimmed(10)], 12...12)
      #expect(try rows(journal) == [11, 12])
      #expect(try journal.load().sessions.count == 1)
    }
  }

  /// Returns the numbers of the last steps of the rows of the first store.
  private func rows(_ journal: SQLiteJournal) throws -> [Int64] {
    let ids = StepRow.ids(of: 1)
    let rows = try journal.database.rows(
      .steps, .integer(ids.lowerBound), .integer(ids.upperBound))
    return rows.found.map { $0.id - ids.lowerBound }
  }

  /// Returns a journal with one session, and the session's handle.
  private func journal(
    _ folder: String, stores: [String]
  ) throws -> (SQLiteJournal, SessionHandle) {
    let journal = try SQLiteJournal(folder: folder)
    return (journal, try open(stores, 1, journal))
  }

  @discardableResult
  private func open(
    _ stores: [String], _ seed: UInt64, _ journal: SQLiteJournal
  ) throws -> SessionHandle {
    var numbers = FixedNumbers(seed: seed)
    let handle = SessionHandle(using: &numbers)
    try journal.commit(
      [JournalEntry(handle, .opened(owner: nil))]
        + stores.flatMap { store in
          [
            .opened(kind: "kind", configuration: [], revision: 0),
            .state(.text([0x30]), revision: 0),
          ].map { JournalEntry(handle, .store(store, $0)) }
        })
    return handle
  }

  private func step(_ number: Int, _ handle: SessionHandle, _ store: String) -> JournalEntry {
    let patch = Array("step \(number) of \(store)".utf8)
    return JournalEntry(
      handle, .store(store, .step(patch: patch, revision: number, frame: Array("to ".utf8) + patch))
    )
  }

  private func sequence(_ last: Int, _ handle: SessionHandle, _ store: String) -> JournalEntry {
    JournalEntry(handle, .sequence(frontend: "phone", last: last, store: store))
  }

  /// Copies the file and its log into another folder, as they are after a kill.
  private func copy(of folder: String) throws -> String {
    let copy = folder + "-\(UUID())"
    try FileManager.default.makeFolder(copy)
    for suffix in ["", "-wal"] {
      let name = "/sessions.sqlite" + suffix
      guard FileManager.default.fileExists(atPath: folder + name) else { continue }
      try FileManager.default.copyItem(atPath: folder + name, toPath: copy + name)
    }
    return copy
  }

  private func damage(_ folder: String, _ sql: String) throws {
    let database = try JournalDatabase("\(folder)/sessions.sqlite")
    try database.execute(sql)
    #expect(try database.number("SELECT total_changes()") > 0)
    try database.checkpoint()
  }
}
