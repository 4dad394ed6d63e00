// SPDX-License-Identifier: Apache-2.0

import Dispatch
import StateMachines
import StatewireJSON
import TestSupport
import Testing

@testable import Sessions

/// Tests of sessions that a program with other versions of its machines has journaled.
@Suite("Evolution of journaled stores")
struct EvolutionTests {
  @Test("members with defaults are filled in, and clients that come back get the new state")
  func filledIn() async throws {
    let (journal, handle) = try await journaled(#"{"type":"write","text":"a"}"#)
    try await shard(journal, Note2.self).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let (participant, outcomes, _) = try shard.resume(handle, notifying: listener, [("note", 1)])
      #expect(outcomes == [#"migrated 2 {"text":"a","work":"none","theme":"light"}"#])
      try shard.send(#"{"type":"write","text":"b"}"#, participant, to: "note")
    }
    // The same version continues, with replayed updates.
    try await shard(journal, Note2.self).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      #expect(
        try shard.resume(handle, notifying: listener, [("note", 2)]).outcomes == ["replayed 1"])
      #expect(
        try shard.resume(handle, notifying: listener, [("note", 0)]).outcomes
          == [#"migrated 3 {"text":"b","work":"none","theme":"light"}"#])
    }
  }

  @Test("a migrated store continues its unsettled inputs")
  func migrated() async throws {
    let (journal, handle) = try await journaled(
      #"{"type":"write","text":"a"}"#, #"{"type":"work","seconds":5}"#)
    // Twice: the restored store is journaled with its inputs.
    for expected in ["migrated 3", "migrated 3"] {
      try await shard(journal, Note2.self).run { shard in
        let listener = Listener()
        defer { withExtendedLifetime(listener) {} }
        try shard.restoreAll()
        let outcomes = try shard.resume(handle, notifying: listener, [("note", 0)]).outcomes
        #expect(outcomes == [#"\#(expected) {"text":"a","work":"running","theme":"light"}"#])
      }
    }
    try await shard(journal, Note2.self).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      await shard.pass(seconds: 5)
      let outcomes = try shard.resume(handle, notifying: listener, [("note", nil)]).outcomes
      #expect(outcomes == [#"none 4 {"text":"a","work":"finished","theme":"light"}"#])
    }
  }

  @Test("an input that cannot be decoded any more is dropped, and the store is interrupted")
  func unreadableInput() async throws {
    let (journal, handle) = try await journaled(
      #"{"type":"write","text":"a"}"#, #"{"type":"work","seconds":5}"#)
    for count in [1, 0] {
      try await shard(journal, Note3.self).run { shard in
        let listener = Listener()
        defer { withExtendedLifetime(listener) {} }
        let words = try shard.restore()
        #expect(words.count == count && words.allSatisfy { $0.contains("which is dropped") })
        let outcomes = try shard.resume(handle, notifying: listener, [("note", nil)]).outcomes
        #expect(outcomes == [#"none 4 {"title":"a","work":"interrupted","theme":"light"}"#])
      }
    }
  }

  @Test(
    "a state that cannot be read is kept aside, and the store opens with the reason",
    arguments: [
      ("a", "/text: expected a number"), ("bad", "migrate(from: 1) has failed: no such text"),
    ])
  func unreadable(_ text: String, _ reason: String) async throws {
    let (journal, handle) = try await journaled(#"{"type":"write","text":"\#(text)"}"#)
    func restored() -> Shard {
      text == "bad" ? shard(journal, Note3.self) : shard(journal, NoteOfNumbers.self)
    }
    for isFirst in [true, false] {
      try await restored().run { shard in
        let listener = Listener()
        defer { withExtendedLifetime(listener) {} }
        let words = try shard.restore()
        #expect(words.count == (isFirst ? 1 : 0))
        for word in words {
          #expect(word.contains(#"the store "note" of kind "note" of a session: the state of "#))
          #expect(word.contains("version 1 at revision 1"))
          #expect(word.contains("/text"))
          #expect(!word.contains(handle.description))
        }
        for (held, expected) in [(1, "unreadable 2"), (2, "replayed 0"), (nil, "none 2")] {
          let resumption = try shard.resumption(handle, listener, "note", held)
          #expect(resumption.outcome.hasPrefix(expected), "\(resumption.outcome)")
          #expect(resumption.keptAside?.revision == 1)
          #expect(resumption.keptAside?.reason.contains("/text") == true)
        }
      }
    }
    let kept = try journal.load().kept
    #expect(kept.count == 1)
    let state = try #require(kept.first)
    #expect((state.store, state.kind, state.version, state.revision) == ("note", "note", 1, 1))
    #expect(String(decoding: state.state, as: UTF8.self) == #"{"text":"\#(text)","work":"none"}"#)
    // The operator starts the old program again, and puts the state back.
    try journal.commit(try journal.load().puttingBack(state, at: .seconds(5)).entries)
    try await shard(journal, Note1.self).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let resumption = try shard.resumption(handle, listener, "note", 2)
      #expect(resumption.outcome == #"restored 4 {"text":"\#(text)","work":"interrupted"}"#)
      #expect(resumption.keptAside == nil)
    }
    // The states of the store in the meantime are kept.
    let reasons = try journal.load().kept.map(\.reason)
    #expect(reasons.count == 2 && reasons.last == "replaced by the state of revision 1")
  }

  @Test("a state of a newer version is not misread")
  func newer() async throws {
    let (journal, handle) = try await journaled(#"{"type":"write","text":"a"}"#)
    try await shard(journal, Note3.self).run { shard in try shard.restoreAll() }
    try await shard(journal, Note2.self).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let words = try shard.restore()
      #expect(words.count == 1 && words.allSatisfy { $0.contains("version 2") })
      let resumption = try shard.resumption(handle, listener, "note", 2)
      #expect(resumption.outcome.hasPrefix("unreadable 3"))
    }
  }

  @Test("the state of a kind that does not exist any more is kept aside, and its store is closed")
  func unknownKind() async throws {
    let (journal, handle) = try await journaled(#"{"type":"write","text":"a"}"#)
    for _ in 1...2 {
      try await Shard.journaled(journal).run { shard in
        let listener = Listener()
        defer { withExtendedLifetime(listener) {} }
        _ = try shard.restore()
        let resumption = try shard.resumption(handle, listener, "note", 1)
        #expect(resumption.outcome == "closed")
        #expect(resumption.keptAside?.reason.contains("no store kind") == true)
      }
    }
    let kept = try journal.load().kept
    #expect(kept.count == 1)
    try journal.commit(try journal.load().puttingBack(kept[0], at: .zero).entries)
    try await shard(journal, Note1.self).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let resumption = try shard.resumption(handle, listener, "note", 1)
      #expect(resumption.outcome == #"restored 4 {"text":"a","work":"interrupted"}"#)
    }
  }

  @Test("a session is set aside if its unreadable state has too many bytes, and nothing is lost")
  func tooManyBytes() async throws {
    let (journal, handle) = try await journaled(#"{"type":"write","text":"a"}"#)
    var limits = SessionLimits()
    limits.keptBytes = 10
    try await shard(journal, NoteOfNumbers.self, limits).run { shard in
      let words = try shard.restore()
      #expect(words.count == 1 && words.allSatisfy { $0.contains("is set aside") })
      #expect(shard.refusal(comingBackTo: handle)?.contains("aside") == true)
    }
    #expect(try journal.load().kept.isEmpty)
    try await shard(journal, Note1.self, limits).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let resumption = try shard.resumption(handle, listener, "note", 1)
      #expect(resumption.outcome == "replayed 0")
    }
  }

  @Test("a state that is kept aside is not lost with a failed commit")
  func failedCommit() async throws {
    let (journal, handle) = try await journaled(#"{"type":"write","text":"a"}"#)
    journal.isFull = true
    try await shard(journal, NoteOfNumbers.self).run { shard in
      _ = try shard.restore()
      #expect(journal.refusals == 1)
      journal.isFull = false
      shard.advanceWithoutTurn(seconds: 2)
      shard.turn { shard.expireSessions() }
    }
    let contents = try journal.load()
    #expect(contents.kept.map(\.revision) == [1])
    #expect(contents.sessions.map(\.handle) == [handle])
    #expect(contents.sessions.first?.stores.first?.revision == 2)
  }

  /// Returns the journal of a session in which a store of the first version has taken inputs.
  private func journaled(_ inputs: String...) async throws -> (MemoryJournal, SessionHandle) {
    let journal = MemoryJournal()
    let handle = try await shard(journal, Note1.self).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.join(listener)
      for input in inputs { try shard.send(input, participant, to: "note") }
      return handle
    }
    return (journal, handle)
  }

  private func shard<State: NoteState>(
    _ journal: MemoryJournal, _: State.Type, _ limits: SessionLimits = .init()
  ) -> Shard {
    .journaled(journal, kinds: [StoreKind("note") { Note<State>() }], limits: limits)
  }
}

extension Shard {
  /// Attaches a new client, and returns how its store is brought up to date.
  fileprivate func resumption(
    _ handle: SessionHandle, _ listener: Listener, _ store: String, _ held: Revision?
  ) throws -> (outcome: String, keptAside: Resumption.KeptAside?) {
    let outcome = try resume(handle, notifying: listener, [(store, held)]).outcomes[0]
    let entry = directory[handle]?.storeEntries[store]
    return (outcome, entry?.renewal.keptAside)
  }
}
