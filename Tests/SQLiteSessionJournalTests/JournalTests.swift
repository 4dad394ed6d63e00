// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteFiles
import Sessions
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteSessionJournal

@Suite("The session journal")
struct JournalTests {
  @Test("gives back what was written down, however often it is opened", arguments: 1...8)
  func random(seed: UInt64) async throws {
    try await withFolder { folder in
      var (turns, model) = (RandomTurns(seed: seed), JournalContents())
      for _ in 0..<4 {
        let journal = try SQLiteJournal(folder: folder)
        check(try journal.load(), model)
        for _ in 0..<250 {
          let entries = turns.next()
          try journal.commit(entries)
          for entry in entries { model.take(entry) }
        }
        check(try journal.load(), model)
      }
    }
  }

  @Test("outlives the process that is killed, and a log that was cut: what was in it is gone")
  func cutLog() async throws {
    try await withFolder { folder in
      let journal = try SQLiteJournal(folder: folder)
      var (turns, model) = (RandomTurns(seed: 7), JournalContents())
      var numbers = FixedNumbers(seed: 8)
      // What the journal held after each turn, and how long its log was then.
      var history = [(text: model.text, length: try length(folder))]
      for _ in 0..<300 {
        let entries = turns.next()
        try journal.commit(entries)
        for entry in entries { model.take(entry) }
        let length = try length(folder)
        // What a checkpoint has taken into the file can be cut no more.
        if length < history.last?.length ?? 0 { history.removeAll() }
        history.append((model.text, length))
      }
      #expect(history.count > 100)
      let name = "\(folder)/sessions.sqlite"
      for number in 0..<200 {
        let copy = "\(folder)-\(number)"
        try FileManager.default.makeFolder(copy)
        let whole = try Data(contentsOf: URL(filePath: name + "-wal"))
        let end = Int.random(in: 0...whole.count, using: &numbers)
        try FileManager.default.copyItem(atPath: name, toPath: "\(copy)/sessions.sqlite")
        try whole.prefix(end).write(to: URL(filePath: "\(copy)/sessions.sqlite-wal"))
        let contents = try SQLiteJournal(folder: copy).load()
        #expect(contents.damage == [])
        let whatIsLeft = history.last { $0.length <= end } ?? history[0]
        #expect(contents.text == whatIsLeft.text, "cut at \(end) of \(whole.count)")
        try FileManager.default.removeItem(atPath: copy)
      }
    }
  }

  @Test("does not grow with what has happened: 100,000 turns leave it as large as 10,000 do")
  func size() async throws {
    try await withFolder { folder in
      let journal = try SQLiteJournal(folder: folder)
      var numbers = FixedNumbers(seed: 1)
      let handle = SessionHandle(using: &numbers)
      func store(_ event: JournalEntry.StoreEvent) -> JournalEntry {
        JournalEntry(handle, .store("todos", event))
      }
      let state = [UInt8](repeating: 0x61, count: 16 << 10)
      try journal.commit([
        JournalEntry(handle, .opened(owner: nil)),
        store(.opened(kind: "todos", configuration: [], revision: 0)),
        store(.state(.text(state), revision: 0)),
      ])
      let patch = [UInt8](repeating: 0x62, count: 150)
      var early = 0
      for turn in 1...100_000 {
        var entries = [
          JournalEntry(handle, .sequence(frontend: "phone", last: turn, store: "todos")),
          store(.step(patch: patch, revision: turn, frame: Array("\(turn)".utf8) + patch)),
        ]
        // As sessions do: a state when the patches are larger, and frames of 64 KiB at most.
        if turn % 110 == 0 { entries.append(store(.state(.text(state), revision: turn))) }
        if turn % 200 == 0 { entries.append(store(.trimmed(turn - 200))) }
        try journal.commit(entries)
        if turn == 10_000 { early = try length(folder, "") }
      }
      #expect(early > 0)
      #expect(try length(folder, "") <= 2 * early)
      #expect(try length(folder) <= 2 * SQLiteJournal.pagesOfLog * (4096 + 24))
      let session = try #require(try journal.load().sessions.first)
      #expect(session.sequences.map(\.last) == [100_000])
      #expect(session.stores.first?.revision == 100_000)
      #expect((200...400).contains(session.stores.first?.frames.count ?? 0))
    }
  }

  @Test("keeps the handles of the last 10,000 sessions that are over")
  func ended() async throws {
    try await withFolder { folder in
      let journal = try SQLiteJournal(folder: folder)
      var numbers = FixedNumbers(seed: 1)
      let handles = (0..<10_010).map { _ in SessionHandle(using: &numbers) }
      for handle in handles {
        try journal.commit([JournalEntry(handle, .opened(owner: "me"))])
        try journal.commit([JournalEntry(handle, .ended)])
      }
      let contents = try journal.load()
      #expect(contents.ended.map(\.handle) == Array(handles.suffix(10_000)))
      #expect(contents.ended.allSatisfy { $0.owner == "me" })
    }
  }

  @Test("writes nothing of a turn that cannot be written to the end, and goes on")
  func failure() async throws {
    try await withFolder { folder in
      let journal = try SQLiteJournal(folder: folder)
      var (turns, model) = (RandomTurns(seed: 3), JournalContents())
      for turn in 0..<200 {
        let entries = turns.next()
        if turn.isMultiple(of: 10) {
          // A page more than there may be, as when the disk is full.
          let pages = try journal.database.number("PRAGMA page_count")
          try journal.database.execute("PRAGMA max_page_count = \(pages)")
          let large = [UInt8](repeating: 0x61, count: 1 << 20)
          var numbers = FixedNumbers(seed: UInt64(turn))
          let handle = SessionHandle(using: &numbers)
          #expect(throws: StorageError.self) {
            try journal.commit(
              entries + [
                JournalEntry(handle, .opened(owner: nil)),
                JournalEntry(
                  handle, .store("a", .opened(kind: "a", configuration: large, revision: 0))),
              ])
          }
          try journal.database.execute("PRAGMA max_page_count = 1000000")
        }
        try journal.commit(entries)
        for entry in entries { model.take(entry) }
      }
      check(try journal.load(), model)
      check(try SQLiteJournal(folder: folder + "-none").load(), JournalContents())
    }
  }

  private func check(
    _ contents: JournalContents, _ model: JournalContents,
    _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(contents.damage == [], sourceLocation: location)
    #expect(contents.text == model.text, sourceLocation: location)
  }

  /// How long the write-ahead log is, or another part of the journal.
  private func length(_ folder: String, _ suffix: String = "-wal") throws -> Int {
    let path = "\(folder)/sessions.sqlite\(suffix)"
    guard FileManager.default.fileExists(atPath: path) else { return 0 }
    return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }
}
