// SPDX-License-Identifier: Apache-2.0

import JournalTestSupport
import Sessions
import Testing

/// The tests that every journal must pass.
@Suite("All journals", .timeLimit(.minutes(20)))
struct SessionJournalTests {
  @Test(
    "the journal returns what was written, however often it is opened", arguments: Storage.all,
    1...6)
  func random(storage: Storage, seed: UInt64) async throws {
    try await storage.use { storage in
      var (turns, model) = (RandomTurns(seed: seed), JournalContents())
      for _ in 0..<4 {
        let journal = try storage.open()
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

  @Test(
    "sessions that are read one by one are equal to what was written", arguments: Storage.all,
    1...6)
  func oneByOne(storage: Storage, seed: UInt64) async throws {
    try await storage.use { storage in
      var (turns, model) = (RandomTurns(seed: seed), JournalContents())
      for _ in 0..<4 {
        let journal = try storage.open()
        let start = try journal.start()
        #expect(start.damage == [] && start.setAside.isEmpty && start.owners == [])
        #expect(start.keptBytes == model.kept.reduce(0) { $0 + $1.state.count })
        var (continuing, position): ([SessionHandle], Int64?) = ([], nil)
        repeat {
          let some = try journal.continuing(after: position, limit: 3)
          continuing += some.handles
          position = some.next
        } while position != nil
        #expect(continuing == model.continuing(after: nil, limit: .max).handles)
        var read = JournalContents()
        (read.ended, read.kept) = (model.ended, model.kept)
        for session in model.sessions {
          let loaded = try journal.load(session.handle)
          #expect(loaded.damage == [] && loaded.incomplete == [] && loaded.ended == nil)
          read.sessions += [loaded.session].compactMap { $0 }
        }
        #expect(read.text == model.text)
        for ended in model.ended {
          let loaded = try journal.load(ended.handle)
          #expect(loaded.session == nil && loaded.ended == .init(owner: ended.owner))
        }
        for _ in 0..<250 {
          let entries = turns.next()
          try journal.commit(entries)
          for entry in entries { model.take(entry) }
        }
      }
    }
  }

  @Test("the handles of the last ended sessions are kept, in order", arguments: Storage.all)
  func ended(storage: Storage) async throws {
    try await storage.use { storage in
      let journal = try storage.open()
      _ = try journal.load()
      var numbers = FixedNumbers(seed: 1)
      let count = min(storage.endedCount, 10_000)
      let handles = (0..<count + 10).map { _ in SessionHandle(using: &numbers) }
      for start in stride(from: 0, to: handles.count, by: 10) {
        let some = handles[start..<min(start + 10, handles.count)]
        try journal.commit(some.map { JournalEntry($0, .opened(owner: "me")) })
        try journal.commit(some.map { JournalEntry($0, .ended) })
      }
      let contents = try journal.load()
      #expect(contents.ended.suffix(count).map(\.handle) == Array(handles.suffix(count)))
      #expect(storage.endedCount == .max || contents.ended.count == count)
      #expect(contents.ended.allSatisfy { $0.owner == "me" })
      // Also a session that was opened in the same transaction.
      let last = SessionHandle(using: &numbers)
      try journal.commit([JournalEntry(last, .opened(owner: nil)), JournalEntry(last, .ended)])
      #expect(try storage.open().load().ended.last?.handle == last)
    }
  }

  @Test(
    "a turn that cannot be written completely leaves nothing, and the journal continues",
    arguments: Storage.all)
  func failure(storage: Storage) async throws {
    try await storage.use { storage in
      let journal = try storage.open()
      _ = try journal.load()
      var (turns, model) = (RandomTurns(seed: 3), JournalContents())
      for turn in 0..<200 {
        let entries = turns.next()
        if turn.isMultiple(of: 10) {
          try storage.refuseLarge(true)
          let large = [UInt8](repeating: 0x61, count: 1 << 20)
          var numbers = FixedNumbers(seed: UInt64(turn))
          let handle = SessionHandle(using: &numbers)
          #expect(throws: (any Error).self) {
            try journal.commit(
              entries + [
                JournalEntry(handle, .opened(owner: nil)),
                JournalEntry(
                  handle, .store("a", .opened(kind: "a", configuration: large, revision: 0))),
              ])
          }
          try storage.refuseLarge(false)
        }
        try journal.commit(entries)
        for entry in entries { model.take(entry) }
      }
      check(try journal.load(), model)
      check(try storage.open().load(), model)
    }
  }

  @Test("a session that is journaled as a whole replaces what was there", arguments: Storage.all)
  func whole(storage: Storage) async throws {
    try await storage.use { storage in
      var model = JournalContents()
      let journal = try storage.open()
      _ = try journal.load()
      var numbers = FixedNumbers(seed: 2)
      let handles = [SessionHandle(using: &numbers), SessionHandle(using: &numbers)]
      func commit(_ entries: [JournalEntry]) throws {
        try journal.commit(entries)
        for entry in entries { model.take(entry) }
      }
      for round in 0..<3 {
        for handle in handles {
          let entries = [
            JournalEntry(handle, .opened(owner: "owner \(round)")),
            JournalEntry(
              handle,
              .store("a \(round)", .opened(kind: "k", configuration: [0x30], revision: round))),
          ]
          try commit(entries)
          try commit(
            [1, 2].map { number in
              JournalEntry(
                handle,
                .store(
                  "a \(round)", .step(patch: nil, revision: round + number, frame: [0x31])))
            })
        }
      }
      check(try journal.load(), model)
      check(try storage.open().load(), model)
    }
  }

  @Test(
    "sessions that are not loaded end when their time is over, at most so many at a time",
    arguments: Storage.all)
  func expired(storage: Storage) async throws {
    try await storage.use { storage in
      var model = JournalContents()
      var numbers = FixedNumbers(seed: 1)
      let handles = (1...5).map { _ in SessionHandle(using: &numbers) }
      let first = try storage.open()
      _ = try first.start()
      for (number, handle) in handles.enumerated() {
        var entries = [
          JournalEntry(handle, .opened(owner: "me")),
          JournalEntry(handle, .store("a", .opened(kind: "k", configuration: [], revision: 0))),
          JournalEntry(handle, .sequence(frontend: "phone", last: 7, store: nil)),
          JournalEntry(handle, .alone(continues: false, bytes: 3)),
        ]
        if number < 4 { entries.append(JournalEntry(handle, .expires(at: .seconds(10 - number)))) }
        try first.commit(entries)
        for entry in entries { model.take(entry) }
      }
      let journal = try storage.open()
      _ = try journal.start()
      #expect(try journal.load(handles[3]).session?.deadline == .seconds(7))
      #expect(try journal.endExpired(at: .seconds(9), limit: 10) == 2)
      for handle in [handles[2], handles[1]] { model.take(JournalEntry(handle, .ended)) }
      for handle in [handles[1], handles[2]] {
        #expect(try journal.load(handle).ended == .init(owner: "me"))
      }
      #expect(try journal.load(handles[0]).session?.deadline == .seconds(10))
      #expect(try journal.endExpired(at: .seconds(100), limit: 10) == 0)
      try journal.commit([JournalEntry(handles[3], .ended)])
      model.take(JournalEntry(handles[3], .ended))
      var other = FixedNumbers(seed: 2)
      let unknown = try journal.load(SessionHandle(using: &other))
      #expect(unknown.session == nil && unknown.ended == nil)
      let again = try storage.open()
      _ = try again.start()
      #expect(try again.continuing(after: nil, limit: 10).handles == [handles[4]])
      #expect(try again.endExpired(at: .seconds(100), limit: 10) == 1)
      model.take(JournalEntry(handles[0], .ended))
      check(try storage.open().load(), model)
    }
  }

  @Test("a kept state survives its session, until it is removed", arguments: Storage.all)
  func kept(storage: Storage) async throws {
    try await storage.use { storage in
      var numbers = FixedNumbers(seed: 3)
      let (ended, open) = (SessionHandle(using: &numbers), SessionHandle(using: &numbers))
      let kept = [state(ended, 7), state(open, 7), state(open, 8)]
      let journal = try storage.open()
      _ = try journal.load()
      try journal.commit(
        [ended, open].map { JournalEntry($0, .opened(owner: "alice")) }
          + kept.map { JournalEntry($0.session, .keptAside($0)) })
      // The same state again, after a commit of which it was not known whether it failed.
      try journal.commit([JournalEntry(open, .keptAside(kept[1]))])
      try journal.commit([JournalEntry(ended, .ended)])
      func sorted(_ states: [KeptState]) -> [String] { states.map { "\($0)" }.sorted() }
      #expect(sorted(try journal.load().kept) == sorted(kept))
      let again = try storage.open()
      #expect(try again.start().keptBytes == 3 * 7)
      try again.commit([
        JournalEntry(open, .keptRemoved(kept[1].key)), JournalEntry(open, .keptAside(kept[2])),
      ])
      #expect(try again.load().kept == [kept[0], kept[2]])
    }
  }

  private func state(_ session: SessionHandle, _ revision: Int) -> KeptState {
    KeptState(
      session: session, owner: "alice", store: "board", kind: "kanban",
      configuration: Array("{}".utf8), version: 3, revision: revision,
      state: Array(#"{"a":1}"#.utf8), reason: "a member is missing at /b", time: .seconds(9))
  }

  private func check(
    _ contents: JournalContents, _ model: JournalContents,
    _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(contents.damage == [], sourceLocation: location)
    #expect(contents.text == model.text, sourceLocation: location)
  }
}
