// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteFiles
import Sessions
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteSessionJournal

@Suite("Indexes of the session journal that do not agree with their tables")
struct JournalIndexTests {
  static let indexes = [
    "session_handle", "session_deadline", "session_continues", "session_shares", "ended_handle",
  ]
  private static var names: String { indexes.joined(separator: "','") }

  @Test("a damaged page is mended at the start or in use, and nothing is lost", arguments: indexes)
  func damagedPage(_ index: String) async throws {
    try await withFolder { folder in
      let handles = try write(3, folder)
      var bytes = try file(folder)
      let page = try place(of: index, folder)
      bytes.replaceSubrange(page, with: Data(count: page.count))
      try bytes.write(to: path(folder))

      let journal = try SQLiteJournal(folder: folder)
      let all = "SELECT count(*) FROM sqlite_schema WHERE name IN ('\(Self.names)')"
      #expect(try journal.database.number(all) == 5)
      _ = try journal.start()
      #expect(try journal.continuing(after: nil, limit: 10).handles == handles)
      let new = try add(4, to: journal)
      for handle in handles {
        #expect(try journal.load(handle).session?.handle == handle)
        try journal.commit([JournalEntry(handle, .expires(at: .seconds(2)))])
        journal.forget([handle])
      }
      #expect(try journal.endExpired(at: .seconds(3), limit: 10) == 3)
      for handle in handles { #expect(try journal.load(handle).ended == .init(owner: nil)) }
      #expect(try journal.load(new).session?.handle == new)
      #expect(try journal.database.number(all) == 5)
      // Only the pages of the old indexes are not in order: they are not used again.
      let faults = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check NOT LIKE"
      #expect(
        try journal.database.number("\(faults) '%never used' AND integrity_check <> 'ok'") == 0)
    }
  }

  @Test("after another start of the machine, an old page of an index hides no session")
  func oldPage() async throws {
    try await withFolder { folder in
      _ = try write(1, folder)
      let page = try place(of: "session_handle", folder)
      let old = try file(folder)[page]
      let handles = try write(2, folder)
      var bytes = try file(folder)
      bytes.replaceSubrange(page, with: old)
      try bytes.write(to: path(folder))
      try mark(folder, "another start")

      let journal = try SQLiteJournal(folder: folder)
      #expect(try journal.start().damage == [])
      for handle in handles { #expect(try journal.load(handle).session?.handle == handle) }
    }
  }

  @Test("the next start replaces a file whose damage new indexes do not mend")
  func lastingDamage() async throws {
    try await withFolder { folder in
      let handles = try write(2, folder)
      let mark = JournalMark(folder: folder)
      #expect(mark.check == .none && !mark.isMissing)
      var bytes = try file(folder)
      let page = try place(of: "keptstate", folder)
      bytes.replaceSubrange(page, with: Data(count: page.count))
      try bytes.write(to: path(folder))
      do {
        let journal = try SQLiteJournal(folder: folder)
        _ = try journal.start()
        let kept = KeptState(
          session: handles[0], owner: nil, store: "a", kind: "k", configuration: [], version: 1,
          revision: 1, state: [0x31], reason: "none", time: .zero)
        // The pages of the old indexes are lost once, and not at each failure.
        for _ in 1...3 {
          #expect(throws: StorageError.self) {
            try journal.commit([JournalEntry(handles[0], .keptAside(kept))])
          }
        }
        #expect(try journal.database.number("PRAGMA page_count") <= 30)
      }
      #expect(mark.check == .everything)
      let journal = try SQLiteJournal(folder: folder)
      #expect(try journal.start().damage.count >= 1)
      for handle in handles { #expect(try journal.load(handle).session?.handle == handle) }
      #expect(mark.check == .none)
      #expect(FileManager.default.fileExists(atPath: "\(folder)/sessions.sqlite.damaged-1"))
    }
  }

  @Test("a journal whose commits wait for the disk has no mark")
  func synced() async throws {
    try await withFolder { folder in
      _ = try write(1, folder)
      let mark = JournalMark(folder: folder)
      #expect(!mark.isMissing)
      _ = try SQLiteJournal(folder: folder, durability: .power).start()
      #expect(mark.isMissing)
      _ = try SQLiteJournal(folder: folder).start()
      #expect(!mark.isMissing)
    }
  }

  // MARK: Support

  /// Writes sessions that continue, and returns all handles.
  private func write(_ count: UInt64, _ folder: String) throws -> [SessionHandle] {
    let journal = try SQLiteJournal(folder: folder)
    _ = try journal.start()
    let handles = try (1...count).map { try add($0, to: journal) }
    try journal.database.checkpoint()
    return handles
  }

  private func add(_ number: UInt64, to journal: SQLiteJournal) throws -> SessionHandle {
    var numbers = FixedNumbers(seed: number)
    let handle = SessionHandle(using: &numbers)
    try journal.commit([
      JournalEntry(handle, .opened(owner: nil)),
      JournalEntry(handle, .store("a", .opened(kind: "k", configuration: [], revision: 0))),
      JournalEntry(handle, .alone(continues: true, bytes: 10)),
      JournalEntry(handle, .expires(at: .seconds(100))),
    ])
    return handle
  }

  /// The page that contains an index.
  private func place(of index: String, _ folder: String) throws -> Range<Int> {
    let database = try JournalDatabase("\(folder)/sessions.sqlite")
    let page = try database.number("SELECT rootpage FROM sqlite_schema WHERE name = '\(index)'")
    let start = (Int(page) - 1) * 4096
    return start..<start + 4096
  }

  private func mark(_ folder: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(JournalMark.name)"))
  }

  private func path(_ folder: String) -> URL { URL(filePath: "\(folder)/sessions.sqlite") }

  private func file(_ folder: String) throws -> Data { try Data(contentsOf: path(folder)) }
}
