// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import Testing

@testable import Sessions

/// Simulates a kill after every turn of random scripts, and compares the restored sessions with the
/// sessions before the kill.
@Suite("Restarts", .timeLimit(.minutes(20)))
struct RestartTests {
  private static var limits: SessionLimits {
    var limits = SessionLimits()
    // Small enough that the history drops updates all the time.
    limits.historyBytes = 1500
    return limits
  }

  @Test(
    "after a kill in any turn, all sent updates are restored and accepted inputs take effect once",
    arguments: [1, 2, 3, 4] as [UInt64])
  func everywhere(seed: UInt64) async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    let moments = try await Shard.journaled(journal, bank, limits: Self.limits).run { shard in
      let script = try RandomScript(seed: seed, journal, bank, isolation: shard)
      for _ in 1...60 { try await script.step(shard) }
      journal.whenCommitted = nil
      return script.moments
    }
    #expect(moments.count > 40)
    for moment in moments {
      let known = MemoryJournal(Array(journal.commits.prefix(moment.commits)))
      try await check(moment, known)
    }
  }

  // Restored store by store, the order was 1 3 5 7 2 4 6 8.
  @Test("after a restart, inputs to several stores continue in the order in which they arrived")
  func order() async throws {
    let journal = MemoryJournal()
    let commits = try await Shard.journaled(journal).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.join(listener)
      try shard.turn {
        _ = try participant.session.open(
          "others", kind: "errands", configuration: [:], isolation: shard)
      }
      for item in 1...8 {
        shard.advanceWithoutTurn(seconds: 1)
        try shard.send(
          #"{"type":"write","item":\#(item)}"#, participant,
          to: item.isMultiple(of: 2) ? "errands" : "others")
      }
      // The process is killed before the work has begun.
      return journal.commits
    }
    let bank = Bank()
    try await Shard.journaled(MemoryJournal(commits), bank).run { shard in
      try shard.restoreAll()
      await shard.pass(seconds: 0)
      #expect(bank.items == Array(1...8))
    }
  }

  @Test("a session survives ten kills in succession")
  func again() async throws {
    var (commits, bank): ([[JournalEntry]], Bank) = ([], Bank())
    var handle: SessionHandle?
    for round in 0..<10 {
      let journal = MemoryJournal(commits, loads: UInt64(round))
      let (money, known) = (bank.copy(), handle)
      (handle, commits, bank) = try await Shard.journaled(journal, money).run { shard in
        let listener = Listener()
        defer { withExtendedLifetime(listener) {} }
        try shard.restoreAll()
        let participant: Participant
        let handle: SessionHandle
        if let known {
          let outcomes: [String]
          (participant, outcomes, _) = try shard.resume(
            known, notifying: listener, [("errands", 2 * round - 1), ("shelf", round)])
          handle = known
          #expect(outcomes == ["replayed 0", "replayed 0"])
        } else {
          (participant, handle) = try shard.join(listener)
        }
        await shard.pass(seconds: 0)
        try shard.send(#"{"type":"put","id":"\#(round)","title":"x"}"#, participant, to: "shelf")
        try shard.send(#"{"type":"add","amount":1}"#, participant, to: "errands")
        // Before the kill, the operation is performed in every second round. Its result is never
        // folded.
        try shard.send(#"{"type":"write","item":\#(round)}"#, participant, to: "errands")
        if round.isMultiple(of: 2) {
          let id = OperationID(
            scope: "\(handle)/errands", epoch: UInt64(round + 1), number: UInt64(2 * round + 2))
          money.write(round, id)
        }
        return (handle, journal.commits, money.copy())
      }
    }
    #expect(bank.items == Array(0..<9))
  }

  @Test("after a regular stop, a session and its unfinished inputs are restored")
  func stopped() async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    let handle = try await Shard.journaled(journal, bank).run { shard in
      let listener = Listener()
      let (participant, handle) = try shard.join(listener)
      try shard.send(#"{"type":"later","item":7,"seconds":20}"#, participant, to: "errands")
      try shard.send(#"{"type":"risk","item":8}"#, participant, to: "errands")
      shard.turn { participant.session.leave(participant, isolation: shard) }
      await shard.stop()
      return handle
    }
    #expect(try journal.load().sessions.flatMap(\.stores).flatMap(\.accepted).count == 2)
    try await Shard.journaled(journal, bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let (_, outcomes, _) = try shard.resume(
        handle, notifying: listener, [(store: "errands", revision: nil)])
      #expect(outcomes == [#"none 1 {"count":0,"done":[],"failed":[8]}"#])
      await shard.pass(seconds: 30)
      #expect(listener.take().count == 1)
      #expect(try journal.load().sessions.flatMap(\.stores).flatMap(\.accepted).isEmpty)
    }
  }

  private func check(_ moment: Moment, _ journal: MemoryJournal) async throws {
    let bank = moment.bank.copy()
    try await Shard.journaled(journal, bank, limits: Self.limits).run { shard in
      try shard.restoreAll()
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      var storeEntries: [StoreEntry] = []
      for (expected, name) in zip(moment.clients, ["ann", "bob", "cid"]) {
        guard !expected.isEnded else {
          #expect(shard.refusal(comingBackTo: expected.handle) == "expired session")
          continue
        }
        let (participant, _, sequence) = try shard.resume(
          expected.handle, named: name, notifying: listener)
        #expect(sequence == expected.sequence)
        let session = participant.session
        #expect(session.storeEntries.count == expected.stores.count)
        for (name, store) in expected.stores {
          let storeEntry = try #require(session.storeEntries[name])
          try check(storeEntry, store)
          if name == "errands" { storeEntries.append(storeEntry) }
        }
        // The sequence number of the last accepted input is restored.
        if expected.sequence > 0 { #expect(try participant.hasAccepted(expected.sequence)) }
        let result = try shard.send(
          #"{"type":"add","amount":0}"#, participant, to: "errands", sequence: expected.sequence + 1
        )
        #expect(result != nil)
      }
      await shard.pass(seconds: 30)
      let clients = moment.clients.filter { !$0.isEnded && $0.stores["errands"] != nil }
      for (storeEntry, expected) in zip(storeEntries, clients) {
        try checkDone(storeEntry, expected.sent, bank)
      }
      let open = try journal.load().sessions.flatMap(\.stores).flatMap(\.accepted)
      #expect(open.isEmpty)
    }
    // Writes of ended sessions may also have been performed, but none of them twice.
    #expect(Set(bank.items).count == bank.items.count)
  }

  /// Checks the state of a store immediately after recovery.
  private func check(_ storeEntry: StoreEntry, _ expected: Moment.Store) throws {
    let restored = storeEntry.snapshot
    #expect(restored.isClosed == expected.isClosed)
    guard !expected.isClosed else {
      #expect(restored.revision == expected.revision)
      return
    }
    guard expected.isDurable else {
      #expect(restored.revision == expected.revision + 1)
      #expect(storeEntry.snapshotReason(from: expected.revision) == .reopened)
      return
    }
    #expect(restored.opened == expected.opened && restored.redacted == expected.redacted)
    #expect(restored.revision >= expected.revision)
    // A client that has the last revision needs only the later updates.
    #expect(storeEntry.snapshotReason(from: expected.revision) == nil)
    var state = try JSONValue(parsing: expected.state)
    var updates: [String] = []
    storeEntry.history?.forEach(from: expected.revision) { members in
      updates.append("{\(String(decoding: members, as: UTF8.self))}")
    }
    for update in updates {
      guard let patch = try JSONValue(parsing: update)["patch"] else { continue }
      state = try JSONPatch(patch).apply(to: state)
    }
    #expect(state == (try JSONValue(parsing: restored.state)))
    // The updates in the history are the same as before.
    if restored.revision == expected.revision {
      #expect(restored.frames == expected.frames)
    } else {
      let common = restored.frames.dropLast(restored.revision - expected.revision)
      #expect(expected.frames.suffix(common.count) == common)
    }
  }

  /// Checks the effects of all inputs, after these have ended.
  private func checkDone(_ storeEntry: StoreEntry, _ sent: Moment.Sent, _ bank: Bank) throws {
    let machine = try #require(storeEntry.store as? Store<Errands>)
    let state = machine.state
    #expect(state.count == sent.sum)
    let items = bank.items
    for item in sent.writes { #expect(items.filter { $0 == item }.count == 1) }
    for item in sent.writes + sent.delayed { #expect(state.done.contains(item)) }
    for item in sent.risks {
      #expect(state.done.contains(item) != state.failed.contains(item))
    }
    #expect(Set(state.failed).count == state.failed.count)
  }
}
