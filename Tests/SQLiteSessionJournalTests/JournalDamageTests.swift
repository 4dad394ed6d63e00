// SPDX-License-Identifier: Apache-2.0

import Foundation
import JournalTestSupport
import SQLiteFiles
import Sessions
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteSessionJournal

@Suite("Damaged session journal")
struct JournalDamageTests {
  @Test(
    "a damaged row affects only the data that depend on it",
    arguments: [
      // The second patch: the store returns to the state before it, under an unused revision.
      ("step", 2, 1, 3, "its last changes cannot be read; it has its earlier state again."),
      // The last patch: its revision must not be used again.
      ("step", 3, 2, 3, "its last changes cannot be read; it has its earlier state again."),
      ("state", 0, 0, 0, "its state cannot be read; it restarts with its initial state."),
    ] as [(String, Int, Int, Int, String)])
  func damagedRow(
    table: String, number: Int, patches: Int, frames: Int, sentence: String
  ) async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      try damage(
        folder,
        "UPDATE \(table) SET data = zeroblob(length(data)) WHERE id & 0xFF = \(table == "state" ? 1 : number) AND id < (2 << 39)"
      )
      let contents = try SQLiteJournal(folder: folder).load()
      #expect(contents.damage.first == "Store todos of a session: \(sentence)")
      #expect(contents.damage.last?.hasSuffix("\(folder)/sessions.sqlite.damaged-1.") == true)
      let damaged = try #require(contents.sessions.first { $0.handle == handles[0] }?.stores.first)
      #expect(damaged.patches.count == patches)
      #expect(damaged.revision == 4)
      #expect(damaged.frames.isEmpty)
      #expect(damaged.opened == (table == "state" ? 4 : 0))
      let other = try #require(contents.sessions.first { $0.handle == handles[1] }?.stores.first)
      #expect(other.patches.count == 3)
      #expect(other.frames.map(\.revision) == [1, 2, 3])
      // The readable contents were written to a new journal, which has no damage.
      let again = try SQLiteJournal(folder: folder).load()
      #expect(again.damage == [])
      #expect(again.text == contents.text)
    }
  }

  @Test(
    "a session with unreadable revisions or sequence numbers ends",
    arguments: [
      "mark", "store", "sequence",
    ])
  func damagedSession(table: String) async throws {
    try await withFolder { folder in
      let handles = try write(folder)
      let key = table == "sequence" ? "session" : "id"
      try damage(folder, "UPDATE \(table) SET data = zeroblob(length(data)) WHERE \(key) = 1")
      let contents = try SQLiteJournal(folder: folder).load()
      #expect(contents.damage.first == "A session cannot be read completely: it has ended.")
      #expect(contents.sessions.map(\.handle) == [handles[1]])
      #expect(contents.ended.map(\.handle) == [handles[0]])
    }
  }

  @Test("random damage is never read as other data", arguments: 1...60)
  func randomDamage(seed: UInt64) async throws {
    try await withFolder { folder in
      var (turns, numbers) = (RandomTurns(seed: seed), FixedNumbers(seed: seed))
      var known: Set<String> = []
      do {
        let journal = try SQLiteJournal(folder: folder)
        for _ in 0..<60 { try journal.commit(turns.next()) }
        for session in try journal.load().sessions {
          for store in session.stores {
            known.insert(store.name + String(store.state?.count ?? -1))
          }
        }
      }
      let path = URL(filePath: "\(folder)/sessions.sqlite")
      var bytes = try Data(contentsOf: path)
      for _ in 0..<Int.random(in: 1..<30, using: &numbers) {
        bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = .random(
          in: 0...255, using: &numbers)
      }
      try bytes.write(to: path)
      let contents: JournalContents
      do {
        contents = try SQLiteJournal(folder: folder).load()
      } catch let error as StorageError {
        // The number of the version has no checksum.
        #expect(error.code == .newerVersion)
        return
      }
      for store in contents.sessions.flatMap(\.stores) {
        #expect(
          known.contains(store.name + String(store.state?.count ?? -1)) || !contents.damage.isEmpty)
      }
      #expect(try SQLiteJournal(folder: folder).load().damage == [])
    }
  }

  @Test("a file that is not a journal is renamed")
  func noJournal() async throws {
    try await withFolder { folder in
      try FileManager.default.makeFolder(folder)
      for number in 1...2 {
        let prose = Data(String(repeating: "No journal, but prose. ", count: 100).utf8)
        try prose.write(to: URL(filePath: "\(folder)/sessions.sqlite"))
        let contents = try SQLiteJournal(folder: folder).load()
        #expect(
          contents.damage == [
            "\(folder)/sessions.sqlite is not a session journal or is damaged; it was moved to "
              + "\(folder)/sessions.sqlite.damaged-\(number)."
          ])
        #expect(
          try Data(contentsOf: URL(filePath: "\(folder)/sessions.sqlite.damaged-\(number)"))
            == prose)
      }
    }
  }

  @Test("a journal of a newer version is refused and not changed, and an older one is migrated")
  func versions() async throws {
    try await withFolder { folder in
      let newer = JournalSchema.steps + ["CREATE TABLE later (id INTEGER PRIMARY KEY);"]
      let handles = try write(folder)
      let before = try SQLiteJournal(folder: folder).load().text
      let migrated = try SQLiteJournal(folder: folder, durability: .process, steps: newer)
      #expect(try migrated.load().text == before)
      #expect(try migrated.database.number("SELECT count(*) FROM later") == 0)
      #expect(handles.count == 2)
    }
    try await withFolder { folder in
      let newer = JournalSchema.steps + ["CREATE TABLE later (id INTEGER PRIMARY KEY);"]
      _ = try SQLiteJournal(folder: folder, durability: .process, steps: newer)
      let content = try Data(contentsOf: URL(filePath: "\(folder)/sessions.sqlite"))
      let error = #expect(throws: StorageError.self) { try SQLiteJournal(folder: folder) }
      #expect(error?.code == .newerVersion)
      #expect(
        error?.message
          == "The session journal in \(folder) was written by a newer version of this program: "
          + "run that version, or use another folder.")
      #expect(try Data(contentsOf: URL(filePath: "\(folder)/sessions.sqlite")) == content)
    }
  }

  @Test("only one server at a time can use a folder")
  func locked() async throws {
    try await withFolder { folder in
      do {
        let first = try FolderLock(folder: folder)
        let error = #expect(throws: StorageError.self) { try FolderLock(folder: folder) }
        #expect(error?.code == .locked)
        #expect(
          error?.message
            == "The folder \(folder) is in use by another server: stop it, or use another folder.")
        withExtendedLifetime(first) {}
      }
      _ = try FolderLock(folder: folder)
    }
  }

  /// Writes two sessions with a store each. Each step of the store is in a separate row.
  private func write(_ folder: String) throws -> [SessionHandle] {
    let journal = try SQLiteJournal(folder: folder)
    var numbers = FixedNumbers(seed: 1)
    let handles = [SessionHandle(using: &numbers), SessionHandle(using: &numbers)]
    for handle in handles {
      try journal.commit([
        JournalEntry(handle, .opened(owner: nil)),
        JournalEntry(handle, .sequence(frontend: "phone", last: 1, store: nil)),
        JournalEntry(
          handle, .store("todos", .opened(kind: "todos", configuration: [], revision: 0))),
        JournalEntry(handle, .store("todos", .state(.text([0x30]), revision: 0))),
      ])
      for revision in 1...3 {
        let patch = Array("patch \(revision)".utf8)
        let step = JournalEntry.StoreEvent.step(
          patch: patch, revision: revision, frame: Array("frame ".utf8) + patch)
        try journal.commit([JournalEntry(handle, .store("todos", step))])
      }
    }
    return handles
  }

  private func damage(_ folder: String, _ sql: String) throws {
    let database = try JournalDatabase("\(folder)/sessions.sqlite")
    try database.execute(sql)
    #expect(try database.number("SELECT total_changes()") > 0)
    try database.checkpoint()
  }
}
