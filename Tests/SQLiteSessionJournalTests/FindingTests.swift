// SPDX-License-Identifier: Apache-2.0

import Foundation
import JournalTestSupport
import SQLiteFiles
import Sessions
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteSessionJournal

@Suite("Loading sessions one by one")
struct FindingTests {
  @Test("a session that expires before it is loaded leaves nothing, and its store ids are reused")
  func ended() async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      let journal = try SQLiteJournal(folder: folder)
      _ = try journal.start()
      _ = try journal.load(handles[0])
      try journal.commit([JournalEntry(handles[0], .expires(at: .seconds(7)))])
      // The process that has it in memory ends it.
      #expect(try journal.endExpired(at: .seconds(8), limit: 10) == 0)
      journal.forget([handles[0]])
      #expect(try journal.endExpired(at: .seconds(6), limit: 10) == 0)
      #expect(try journal.endExpired(at: .seconds(8), limit: 10) == 1)
      for table in ["session", "store", "mark", "state"] {
        #expect(try journal.database.number("SELECT count(*) FROM \(table)") == 1)
      }
      for table in ["step", "accepted", "sequence"] {
        #expect(try journal.database.number("SELECT count(*) FROM \(table)") == 1)
      }
      let loaded = try journal.load(handles[0])
      #expect(loaded.session == nil && loaded.ended == .init(owner: nil))
      #expect(try journal.load(handles[1]).session?.stores.map(\.revision) == [1])
      let contents = try SQLiteJournal(folder: copy(of: folder)).load()
      #expect(contents.damage == [])
      #expect(contents.sessions.map(\.handle) == [handles[1]])
      #expect(contents.ended.map(\.handle) == [handles[0]])
    }
  }

  @Test(
    "files of earlier versions are migrated, also rows without store ids, and nothing is lost",
    arguments: [2, 1], [true, false])
  func earlier(version: Int, haveStoreIDs: Bool) async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      let ended = try end(folder)
      let text = try SQLiteJournal(folder: copy(of: folder)).load().text
      try downgrade(folder, to: version, haveStoreIDs: haveStoreIDs)
      let journal = try SQLiteJournal(folder: folder)
      let start = try journal.start()
      #expect(start.damage == [] && start.owners == [])
      #expect(try journal.continuing(after: nil, limit: 10).handles == handles)
      #expect(try journal.load(ended).ended == .init(owner: "me"))
      #expect(try journal.load(handles[0]).session?.stores.map(\.revision) == [1])
      try journal.commit([JournalEntry(handles[0], .expires(at: .seconds(7)))])
      journal.forget([handles[0]])
      #expect(try journal.endExpired(at: .seconds(7), limit: 1) == 1)
      #expect(try journal.load(handles[0]).ended == .init(owner: nil))
      let again = try SQLiteJournal(folder: copy(of: folder)).load()
      #expect(again.damage == [] && again.sessions.map(\.handle) == [handles[1]])
      #expect(text.contains("\(handles[1])"))
    }
  }

  @Test("a damaged file of an earlier version is replaced, and its readable part persists")
  func earlierDamage() async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      try downgrade(folder, to: 2, haveStoreIDs: true)
      try damage(folder, "UPDATE session SET data = zeroblob(length(data)) WHERE id = 1")
      let journal = try SQLiteJournal(folder: folder)
      #expect(try journal.start().damage.count == 2)
      #expect(try journal.load(handles[1]).session?.stores.map(\.revision) == [1])
      #expect(try journal.load(handles[0]).session == nil)
      try journal.commit([step(2, handles[1])])
      let again = try SQLiteJournal(folder: copy(of: folder))
      #expect(try again.start().damage == [])
      #expect(try again.load(handles[1]).session?.stores.map(\.revision) == [2])
    }
  }

  @Test("the number of rows that a start and a loading read does not depend on the sessions")
  func bounded() async throws {
    try await withFolder { folder in
      let journal = try SQLiteJournal(folder: folder)
      var numbers = FixedNumbers(seed: 5)
      var handles: [SessionHandle] = []
      for _ in 1...500 {
        let handle = SessionHandle(using: &numbers)
        handles.append(handle)
        try journal.commit([
          JournalEntry(handle, .opened(owner: nil)),
          JournalEntry(handle, .store("a", .opened(kind: "kind", configuration: [], revision: 0))),
          JournalEntry(handle, .expires(at: .seconds(1000))),
          JournalEntry(handle, .alone(continues: handle == handles[0], bytes: 10)),
        ])
      }
      let again = try SQLiteJournal(folder: copy(of: folder))
      _ = try again.start()
      #expect(try again.continuing(after: nil, limit: 100).handles == [handles[0]])
      #expect(try again.endExpired(at: .seconds(999), limit: 100) == 0)
      #expect(again.index?.sessions.count == 0)
      let before = again.database.rowsRead
      #expect(before < 10)
      #expect(try again.load(handles[400]).session?.handle == handles[400])
      #expect(again.database.rowsRead - before < 10 && again.index?.sessions.count == 1)
      again.forget([handles[400]])
      #expect(again.index?.sessions.count == 0)
      #expect(try again.endExpired(at: .seconds(1000), limit: 300) == 300)
      #expect(try again.endExpired(at: .seconds(1000), limit: 300) == 200)
    }
  }

  @Test(
    "damage that is found at the loading of a session has the same effects as at a start",
    arguments: ["state", "step", "mark", "sequence", "store"])
  func damage(table: String) async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      let key = ["sequence": "session = 1", "step": "id < (2 << 39)"][table] ?? "id = 1"
      try self.damage(folder, "UPDATE \(table) SET data = zeroblob(length(data)) WHERE \(key)")
      let expected = try SQLiteJournal(folder: copy(of: folder)).load()
      let journal = try SQLiteJournal(folder: folder)
      #expect(try journal.start().damage == [])
      let other = try journal.load(handles[1])
      #expect(other.damage == [])
      let loaded = try journal.load(handles[0])
      #expect(loaded.damage.dropLast() == expected.damage.dropLast())
      #expect(loaded.damage.last?.contains("/sessions.sqlite.damaged-1") == true)
      #expect(loaded.damage.allSatisfy { !$0.contains(handles[0].description) })
      #expect(loaded.session?.text == expected.sessions.first { $0.handle == handles[0] }?.text)
      #expect((loaded.session == nil) == ["mark", "sequence", "store"].contains(table))
      // The session that was loaded earlier continues.
      #expect(loaded.incomplete == [])
      try journal.commit([step(2, handles[1])])
      let again = try SQLiteJournal(folder: copy(of: folder)).load()
      #expect(again.damage == [])
      #expect(again.sessions.first { $0.handle == handles[1] }?.stores.first?.revision == 2)
    }
  }

  @Test("a session in memory with damaged rows must be written as a whole")
  func incomplete() async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      let journal = try SQLiteJournal(folder: folder)
      _ = try journal.start()
      _ = try journal.load(handles[1])
      try journal.database.execute("UPDATE state SET data = zeroblob(length(data))")
      let loaded = try journal.load(handles[0])
      #expect(loaded.session?.stores.first?.state == nil)
      #expect(loaded.incomplete == [handles[1]])
    }
  }

  @Test("a session whose row is damaged has ended, and others continue")
  func damagedRow() async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      try damage(folder, "UPDATE session SET data = zeroblob(length(data)) WHERE id = 1")
      let journal = try SQLiteJournal(folder: folder)
      #expect(try journal.start().damage == [])
      #expect(try journal.continuing(after: nil, limit: 10).handles == [handles[1]])
      let loaded = try journal.load(handles[0])
      #expect(loaded.session == nil && loaded.damage.count == 2)
      #expect(try journal.load(handles[1]).session?.stores.map(\.revision) == [1])
    }
  }

  /// Writes two sessions, each with a store, a step, a sequence number and an input with running
  /// effects.
  private func write(_ folder: String) throws -> [SessionHandle] {
    let journal = try SQLiteJournal(folder: folder)
    var numbers = FixedNumbers(seed: 1)
    let handles = (1...2).map { _ in SessionHandle(using: &numbers) }
    for handle in handles {
      try journal.commit([
        JournalEntry(handle, .opened(owner: nil)),
        JournalEntry(handle, .store("a", .opened(kind: "kind", configuration: [], revision: 0))),
        JournalEntry(handle, .store("a", .state(.text([0x30]), revision: 0))),
        JournalEntry(handle, .sequence(frontend: "phone", last: 1, store: nil)),
      ])
      try journal.commit([
        step(1, handle),
        JournalEntry(
          handle, .store("a", .accepted(operation: 1, epoch: 2, input: [0x31], at: .zero))),
      ])
    }
    return handles
  }

  /// Writes a session that has ended.
  private func end(_ folder: String) throws -> SessionHandle {
    let journal = try SQLiteJournal(folder: folder)
    var numbers = FixedNumbers(seed: 9)
    let handle = SessionHandle(using: &numbers)
    _ = try journal.start()
    try journal.commit([JournalEntry(handle, .opened(owner: "me")), JournalEntry(handle, .ended)])
    return handle
  }

  /// Gives the file the tables that an earlier version of this program has created.
  ///
  /// - Parameter haveStoreIDs: False for rows of a version that has not listed the stores.
  private func downgrade(_ folder: String, to version: Int, haveStoreIDs: Bool) throws {
    let database = try JournalDatabase("\(folder)/sessions.sqlite")
    let sessions = try database.rows(.sessions).found
    try database.execute(
      """
      BEGIN;
      DROP INDEX session_handle; DROP INDEX session_deadline; DROP INDEX session_continues;
      DROP INDEX session_shares; DROP INDEX ended_handle;
      ALTER TABLE session DROP COLUMN handle; ALTER TABLE session DROP COLUMN deadline;
      ALTER TABLE session DROP COLUMN continues; ALTER TABLE session DROP COLUMN shares;
      ALTER TABLE ended DROP COLUMN handle;
      PRAGMA user_version = \(version);
      COMMIT;
      """)
    if version < 2 { try database.execute("DROP TABLE kept; DROP TABLE keptstate;") }
    if !haveStoreIDs {
      for found in sessions {
        let row = try SessionRow(found.data, found.id)
        var writer = RowWriter()
        writer.text(row.handle.description.utf8)
        writer.optional(row.owner?.utf8)
        writer.number(0)
        writer.integer(row.storeCount)
        try database.execute("DELETE FROM session WHERE id = \(found.id)")
        try database.insertSession(found.id, writer.sealed(RowKey(.putSession, found.id)))
      }
    }
    try database.checkpoint()
  }

  private func step(_ number: Int, _ handle: SessionHandle) -> JournalEntry {
    let patch = Array("step \(number)".utf8)
    return JournalEntry(
      handle, .store("a", .step(patch: patch, revision: number, frame: Array("to ".utf8) + patch)))
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

extension JournalDatabase {
  /// Inserts a row of a session into a table of an earlier version.
  func insertSession(_ id: Int64, _ data: [UInt8]) throws {
    let digits = data.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    try execute("INSERT INTO session (id, data) VALUES (\(id), x'\(digits)')")
  }
}
