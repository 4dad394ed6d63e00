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
struct OverviewTests {
  @Test("a session that ends before it is loaded leaves nothing, and its store ids are reused")
  func ended() async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      let journal = try SQLiteJournal(folder: folder)
      _ = try journal.overview()
      try journal.commit([
        JournalEntry(handles[0], .expires(at: .seconds(7))), JournalEntry(handles[0], .ended),
      ])
      for table in ["session", "store", "mark", "state"] {
        #expect(try journal.database.number("SELECT count(*) FROM \(table)") == 1)
      }
      for table in ["step", "accepted", "sequence"] {
        #expect(try journal.database.number("SELECT count(*) FROM \(table)") == 1)
      }
      #expect(try journal.load(handles[0]).session == nil)
      #expect(try journal.load(handles[1]).session?.stores.map(\.revision) == [1])
      let contents = try SQLiteJournal(folder: copy(of: folder)).load()
      #expect(contents.damage == [])
      #expect(contents.sessions.map(\.handle) == [handles[1]])
      #expect(contents.ended.map(\.handle) == [handles[0]])
    }
  }

  @Test("rows of an earlier version, which have no store ids, are read as before")
  func earlier() async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      do {
        let database = try JournalDatabase("\(folder)/sessions.sqlite")
        for found in try database.rows(.sessions).found {
          let row = try SessionRow(found.data, found.id)
          var writer = RowWriter()
          writer.text(row.handle.description.utf8)
          writer.optional(row.owner?.utf8)
          writer.number(0)
          writer.integer(row.storeCount)
          try database.put(
            .putSession, found.id, writer.sealed(RowKey(.putSession, found.id)))
        }
      }
      let journal = try SQLiteJournal(folder: folder)
      let overview = try journal.overview()
      #expect(overview.damage == [] && overview.sessions.map(\.isEmpty) == [false, false])
      // In these rows it is not known whether a session continues.
      #expect(overview.sessions.map(\.continues) == [true, true])
      #expect(try journal.load(handles[0]).session?.stores.map(\.revision) == [1])
      try journal.commit([JournalEntry(handles[0], .alone(continues: false, bytes: 0))])
      try journal.commit([JournalEntry(handles[1], .ended)])
      let again = try SQLiteJournal(folder: copy(of: folder)).load()
      #expect(again.damage == [] && again.sessions.map(\.handle) == [handles[0]])
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
      #expect(try journal.overview().damage == [])
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
      _ = try journal.overview()
      _ = try journal.load(handles[1])
      try journal.database.execute("UPDATE state SET data = zeroblob(length(data))")
      let loaded = try journal.load(handles[0])
      #expect(loaded.session?.stores.first?.state == nil)
      #expect(loaded.incomplete == [handles[1]])
    }
  }

  @Test("a damaged overview contains the readable sessions")
  func damagedOverview() async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      try damage(folder, "UPDATE session SET data = zeroblob(length(data)) WHERE id = 1")
      let journal = try SQLiteJournal(folder: folder)
      let overview = try journal.overview()
      #expect(overview.damage.count == 2 && overview.sessions.map(\.handle) == [handles[1]])
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
