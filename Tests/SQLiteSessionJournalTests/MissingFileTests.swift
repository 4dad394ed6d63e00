// SPDX-License-Identifier: Apache-2.0

import SQLiteFiles
import SQLiteSessionJournal
import Sessions
import StorageTestSupport
import TestSupport
import Testing

@Suite("Journal files that are deleted, moved or replaced while the journal is open")
struct MissingFileTests {
  @Test(
    "the journal commits nothing while its file is missing, and continues when it is back",
    arguments: Loss.allCases)
  func journal(loss: Loss) async throws {
    try await withFolder { folder in
      var numbers = FixedNumbers(seed: 1)
      let handles = (0..<3).map { _ in SessionHandle(using: &numbers) }
      func opened(_ index: Int) -> [JournalEntry] {
        [JournalEntry(handles[index], .opened(owner: nil))]
      }
      // Also if the file existed before.
      try SQLiteJournal(folder: folder).commit(opened(0))
      let journal = try SQLiteJournal(folder: folder)
      let takeBack = try loss.happen(to: "sessions.sqlite", in: folder)
      for _ in 0..<2 {
        let error = #expect(throws: StorageError.self) { try journal.commit(opened(1)) }
        #expect(error?.code == .fileMissing)
        #expect(error?.message.contains("\(folder)/sessions.sqlite") == true)
      }
      guard let takeBack else { return }
      try takeBack()
      try journal.commit(opened(2))
      #expect(Set(try journal.load().sessions.map(\.handle)) == [handles[0], handles[2]])
    }
  }
}
