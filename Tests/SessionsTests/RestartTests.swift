// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import Testing

@testable import Sessions

/// Kills the process after every turn of random scripts, and looks at what comes back.
@Suite("Restarts", .timeLimit(.minutes(10)))
struct RestartTests {
  private static var limits: SessionLimits {
    var limits = SessionLimits()
    // So little that frames are dropped all the time.
    limits.historyBytes = 1500
    return limits
  }

  @Test(
    "whenever it is killed, all that was seen is there, and all that was accepted is done once",
    arguments: [1, 2, 3, 4] as [UInt64])
  func everywhere(seed: UInt64) async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    let moments = try await Shard.journalled(journal, bank, limits: Self.limits).run { shard in
      let play = try Play(seed: seed, journal, bank, isolation: shard)
      for _ in 1...60 { try await play.step(shard) }
      journal.whenCommitted = nil
      return play.moments
    }
    #expect(moments.count > 40)
    for moment in moments {
      let known = MemoryJournal(Array(journal.commits.prefix(moment.commits)))
      try await check(moment, known)
    }
  }

  // Store by store it was: 1 3 5 7 2 4 6 8.
  @Test("inputs to several stores go on in the order in which they came")
  func order() async throws {
    let journal = MemoryJournal()
    let commits = try await Shard.journalled(journal).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.sit(listener)
      try shard.turn {
        _ = try participant.session.open(
          "others", kind: "errands", configuration: [:], isolation: shard)
      }
      for item in 1...8 {
        shard.passQuietly(seconds: 1)
        try shard.send(
          #"{"type":"write","item":\#(item)}"#, participant,
          to: item.isMultiple(of: 2) ? "errands" : "others")
      }
      // Killed before the work has had its turn.
      return journal.commits
    }
    let bank = Bank()
    try await Shard.journalled(MemoryJournal(commits), bank).run { shard in
      try shard.restoreAll()
      await shard.pass(seconds: 0)
      #expect(bank.items == Array(1...8))
    }
  }

  @Test("killed again and again, it is still there")
  func again() async throws {
    var (commits, bank): ([[JournalEntry]], Bank) = ([], Bank())
    var handle: SessionHandle?
    for round in 0..<10 {
      let journal = MemoryJournal(commits, loads: UInt64(round))
      let (money, known) = (bank.copy(), handle)
      (handle, commits, bank) = try await Shard.journalled(journal, money).run { shard in
        let listener = Listener()
        defer { withExtendedLifetime(listener) {} }
        try shard.restoreAll()
        let participant: Participant
        let handle: SessionHandle
        if let known {
          let answers: [String]
          (participant, answers, _) = try shard.resume(
            known, telling: listener, [("errands", 2 * round - 1), ("shelf", round)])
          handle = known
          #expect(answers == ["replayed 0", "replayed 0"])
        } else {
          (participant, handle) = try shard.sit(listener)
        }
        await shard.pass(seconds: 0)
        try shard.send(#"{"type":"put","id":"\#(round)","title":"x"}"#, participant, to: "shelf")
        try shard.send(#"{"type":"add","amount":1}"#, participant, to: "errands")
        // Carried out before it is killed, or not, and never folded before.
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

  @Test("stopped in the right way, it comes back with what ran in it")
  func stopped() async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    let handle = try await Shard.journalled(journal, bank).run { shard in
      let listener = Listener()
      let (participant, handle) = try shard.sit(listener)
      try shard.send(#"{"type":"later","item":7,"seconds":20}"#, participant, to: "errands")
      try shard.send(#"{"type":"risk","item":8}"#, participant, to: "errands")
      shard.turn { participant.session.leave(participant, isolation: shard) }
      await shard.stop()
      return handle
    }
    #expect(try journal.load().sessions.flatMap(\.stores).flatMap(\.accepted).count == 2)
    try await Shard.journalled(journal, bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let (_, answers, _) = try shard.resume(
        handle, telling: listener, [(store: "errands", revision: nil)])
      #expect(answers == [#"none 1 {"count":0,"done":[],"failed":[8]}"#])
      await shard.pass(seconds: 30)
      #expect(listener.take().count == 1)
      #expect(try journal.load().sessions.flatMap(\.stores).flatMap(\.accepted).isEmpty)
    }
  }

  private func check(_ moment: Moment, _ journal: MemoryJournal) async throws {
    let bank = moment.bank.copy()
    try await Shard.journalled(journal, bank, limits: Self.limits).run { shard in
      try shard.restoreAll()
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      var storeEntries: [StoreEntry] = []
      for (seat, name) in zip(moment.seats, ["ann", "bob", "cid"]) {
        guard !seat.isOver else {
          #expect(shard.refusal(comingBackTo: seat.handle) == "expired session")
          continue
        }
        let (participant, _, sequence) = try shard.resume(
          seat.handle, named: name, telling: listener)
        #expect(sequence == seat.sequence)
        let session = participant.session
        #expect(session.storeEntries.count == seat.stores.count)
        for (name, store) in seat.stores {
          let storeEntry = try #require(session.storeEntries[name])
          try check(storeEntry, store)
          if name == "errands" { storeEntries.append(storeEntry) }
        }
        // What has come is known.
        if seat.sequence > 0 { #expect(try participant.hasAccepted(seat.sequence)) }
        let receipt = try shard.send(
          #"{"type":"add","amount":0}"#, participant, to: "errands", sequence: seat.sequence + 1)
        #expect(receipt != nil)
      }
      await shard.pass(seconds: 30)
      let seats = moment.seats.filter { !$0.isOver && $0.stores["errands"] != nil }
      for (storeEntry, seat) in zip(storeEntries, seats) {
        try checkDone(storeEntry, seat.sent, bank)
      }
      let open = try journal.load().sessions.flatMap(\.stores).flatMap(\.accepted)
      #expect(open.isEmpty)
    }
    // Also those of sessions that are over may have been carried out, but none twice.
    #expect(Set(bank.items).count == bank.items.count)
  }

  /// What is there at once.
  private func check(_ storeEntry: StoreEntry, _ was: Moment.Store) throws {
    let now = storeEntry.seen
    #expect(now.isClosed == was.isClosed)
    guard !was.isClosed else {
      #expect(now.revision == was.revision)
      return
    }
    guard was.isDurable else {
      #expect(now.revision == was.revision + 1)
      #expect(storeEntry.snapshotReason(from: was.revision) == .reopened)
      return
    }
    #expect(now.opened == was.opened && now.redacted == was.redacted)
    #expect(now.revision >= was.revision)
    // Whoever has seen it all needs no more than what has come since.
    #expect(storeEntry.snapshotReason(from: was.revision) == nil)
    var state = try JSONValue(parsing: was.state)
    var seen: [String] = []
    storeEntry.history?.forEach(from: was.revision) { members in
      seen.append("{\(String(decoding: members, as: UTF8.self))}")
    }
    for frame in seen {
      guard let patch = try JSONValue(parsing: frame)["patch"] else { continue }
      state = try JSONPatch(patch).apply(to: state)
    }
    #expect(state == (try JSONValue(parsing: now.state)))
    // What was kept is kept.
    if now.revision == was.revision {
      #expect(now.frames == was.frames)
    } else {
      let common = now.frames.dropLast(now.revision - was.revision)
      #expect(was.frames.suffix(common.count) == common)
    }
  }

  /// What has become of all inputs in the end.
  private func checkDone(_ storeEntry: StoreEntry, _ sent: Moment.Sent, _ bank: Bank) throws {
    let machine = try #require(storeEntry.store as? Store<Errands>)
    let state = machine.state
    #expect(state.count == sent.sum)
    let items = bank.items
    for item in sent.writes { #expect(items.filter { $0 == item }.count == 1) }
    for item in sent.writes + sent.laters { #expect(state.done.contains(item)) }
    for item in sent.risks {
      #expect(state.done.contains(item) != state.failed.contains(item))
    }
    #expect(Set(state.failed).count == state.failed.count)
  }
}
