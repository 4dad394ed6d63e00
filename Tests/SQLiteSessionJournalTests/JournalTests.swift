// SPDX-License-Identifier: Apache-2.0

import Foundation
import JournalTestSupport
import SQLiteFiles
import Sessions
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteSessionJournal

@Suite("Session journal")
struct JournalTests {
  @Test("after a kill and with a truncated log, the turns before the truncation persist")
  func cutLog() async throws {
    try await withFolder { folder in
      let journal = try SQLiteJournal(folder: folder)
      var (turns, model) = (RandomTurns(seed: 7), JournalContents())
      var numbers = FixedNumbers(seed: 8)
      // The contents of the journal and the length of its log after each turn.
      var history = [(text: model.text, length: try length(folder))]
      for _ in 0..<300 {
        let entries = turns.next()
        try journal.commit(entries)
        for entry in entries { model.take(entry) }
        let length = try length(folder)
        // A truncation of the log does not affect what a checkpoint has written into the file.
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
        let expected = history.last { $0.length <= end } ?? history[0]
        #expect(contents.text == expected.text, "cut at \(end) of \(whole.count)")
        try FileManager.default.removeItem(atPath: copy)
      }
    }
  }

  @Test("the journal does not grow with the number of turns: 100,000 take the space of 10,000")
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
        // As sessions do: a state when the patches are larger than it, and at most 64 KiB of
        // updates.
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

  /// Returns the length of the write-ahead log, or of another file of the journal.
  private func length(_ folder: String, _ suffix: String = "-wal") throws -> Int {
    let path = "\(folder)/sessions.sqlite\(suffix)"
    guard FileManager.default.fileExists(atPath: path) else { return 0 }
    return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }
}
