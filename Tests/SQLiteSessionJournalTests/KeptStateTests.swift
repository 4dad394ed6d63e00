// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteFiles
import Sessions
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteSessionJournal

@Suite("States that are kept aside")
struct KeptStateTests {
  private static func state(_ session: SessionHandle, revision: Int = 7) -> KeptState {
    KeptState(
      session: session, owner: "alice", store: "board", kind: "kanban",
      configuration: Array("{}".utf8), version: 3, revision: revision,
      state: Array(#"{"a":1}"#.utf8), reason: "a member is missing at /b", time: .seconds(9))
  }

  @Test("a kept state whose row is damaged is lost with a sentence; the others persist")
  func damaged() async throws {
    try await withFolder { folder in
      var numbers = FixedNumbers(seed: 3)
      let session = SessionHandle(using: &numbers)
      let kept = [1, 2, 3].map { Self.state(session, revision: $0) }
      try SQLiteJournal(folder: folder).commit(
        [JournalEntry(session, .opened(owner: nil))]
          + kept.map { JournalEntry(session, .keptAside($0)) })
      try JournalDatabase("\(folder)/sessions.sqlite").execute(
        "UPDATE keptstate SET data = zeroblob(length(data)) WHERE id = 1")
      let contents = try SQLiteJournal(folder: folder).load()
      #expect(contents.kept == Array(kept[1...]))
      #expect(contents.damage.first?.contains("that was kept aside cannot be read") == true)
      let again = try SQLiteJournal(folder: folder).load()
      #expect(again.damage == [] && again.kept == contents.kept)
    }
  }

  @Test("a row of a store that an earlier version of the program wrote has version 1")
  func earlierMark() throws {
    var mark = StoreMark(order: 4)
    (mark.revision, mark.version) = (6, 9)
    mark.renewal = .unreadable(revision: 5, reason: "ü")
    let read = try StoreMark(mark.bytes(3), 3)
    #expect((read.revision, read.version) == (6, 9) && read.renewal == mark.renewal)

    var row = RowWriter()
    row.integer(4)
    row.number(0)
    row.number(1)
    for revision in [1, 6, 0, 0] { row.integer(revision) }
    for step in [8, 7] { row.integer(step) }
    row.number(2)
    let earlier = try StoreMark(row.sealed(RowKey(.putMark, 3)), 3)
    #expect((earlier.revision, earlier.version, earlier.operation) == (6, 1, 2))
    #expect(earlier.renewal == .opened)
  }

  @Test("the file of an earlier version is migrated, and its sessions persist")
  func earlierFile() async throws {
    try await withFolder { folder in
      var numbers = FixedNumbers(seed: 3)
      let handle = SessionHandle(using: &numbers)
      do {
        let journal = try SQLiteJournal(
          folder: folder, durability: .process, steps: [JournalSchema.steps[0]])
        try journal.database.execute("INSERT INTO load (id) VALUES (4)")
        try journal.database.insertSession(1, SessionRow(handle: handle, owner: "alice").bytes(1))
      }
      let journal = try SQLiteJournal(folder: folder)
      let contents = try journal.load()
      #expect(contents.damage == [] && contents.loads == 5)
      #expect(contents.sessions.map(\.handle) == [handle])
      try journal.commit([JournalEntry(handle, .keptAside(Self.state(handle)))])
      #expect(try journal.load().kept == [Self.state(handle)])
    }
  }
}
