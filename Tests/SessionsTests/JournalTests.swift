// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

/// Journaling and recovery of sessions.
@Suite("Session journal", .timeLimit(.minutes(15)))
struct JournalTests {
  @Test("a session is journaled, with its whole content, from the time when it gets a handle")
  func promotion() async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    let handle = try await Shard.journaled(journal, bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let participant = listener.join(on: shard)
      try shard.send(#"{"type":"add","amount":3}"#, participant, to: "errands")
      try shard.send(#"{"type":"later","item":7,"seconds":9}"#, participant, to: "errands")
      try shard.send(#"{"type":"put","id":"a","title":"Milk"}"#, participant, to: "shelf")
      try shard.turn { try participant.session.close("shelf", isolation: shard) }
      try shard.send(#"{"type":"add","amount":1}"#, participant, to: "counter")
      #expect(journal.commits.isEmpty)
      return try shard.turn {
        try participant.session.open(
          for: participant, named: "page", identity: "ann", isolation: shard)
      }
    }
    #expect(journal.commits.count == 1)
    let session = try #require(try journal.load().sessions.first)
    #expect(session.handle == handle && session.owner == "ann" && session.deadline == nil)
    #expect(session.stores.map(\.name) == ["errands", "shelf", "counter"])
    #expect(session.stores.map(\.revision) == [1, 1, 1])
    #expect(session.stores.map(\.isClosed) == [false, true, false])
    #expect(session.stores.map(\.accepted.count) == [1, 0, 0])
    #expect(session.stores[0].lastOperation == 2)
    #expect(session.stores[2].state == nil)
  }

  @Test("a turn is one commit, and a client's updates and responses are sent after it")
  func order() async throws {
    let journal = MemoryJournal()
    try await Shard.journaled(journal).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.join(listener)
      let before = journal.commits.count
      let observer = Observer { journal.commits.count }
      try shard.turn {
        shard.turnOutcome.add(observer)
        for _ in 1...3 {
          try participant.subscription("errands", isolation: shard).send(
            #"{"type":"add","amount":1}"#)
        }
        #expect(journal.commits.count == before)
      }
      #expect(observer.seen == before)
      #expect(journal.commits.count == before + 1)
      let delivery = try shard.turn {
        try participant.subscription("errands", isolation: shard).send(
          #"{"type":"add","amount":1}"#)
        let delivery = Delivery(to: participant.session, on: shard)
        #expect(delivery.fate == .waits && journal.commits.count == before + 1)
        return delivery
      }
      #expect(delivery.fate == .sent && journal.commits.count == before + 2)
      // A turn that changes nothing waits for no commit.
      shard.turn { #expect(Delivery(to: participant.session, on: shard).fate == .sent) }
    }
  }

  @Test("a turn whose commit failed sends nothing, and the next commit writes the whole session")
  func failure() async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    let handle = try await Shard.journaled(journal, bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.join(listener, named: "page")
      let (other, _) = try shard.join(listener)
      try shard.send(#"{"type":"add","amount":1}"#, participant, to: "errands", sequence: 1)
      journal.isFull = true
      let lost = try shard.turn {
        try shard.send(#"{"type":"add","amount":2}"#, participant, to: "errands", sequence: 2)
        return Delivery(to: participant.session, on: shard)
      }
      #expect(lost.fate == .lost)
      // Other sessions are not affected.
      shard.turn { #expect(Delivery(to: other.session, on: shard).fate == .sent) }
      // A client that returns to the session receives nothing either.
      let again = shard.turn { Delivery(to: participant.session, on: shard) }
      #expect(again.fate == .lost)
      #expect(try journal.load().sessions[0].stores[0].revision == 1)
      journal.isFull = false
      shard.advanceWithoutTurn(seconds: 1)
      let sent = try shard.turn {
        try shard.send(#"{"type":"risk","item":4}"#, participant, to: "errands", sequence: 3)
        return Delivery(to: participant.session, on: shard)
      }
      #expect(sent.fate == .sent)
      return handle
    }
    try await Shard.journaled(journal, bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let (_, outcomes, sequence) = try shard.resume(
        handle, named: "page", notifying: listener, [("errands", 0), ("errands", 2)])
      #expect(sequence == 3)
      #expect(
        outcomes == [#"trimmed 3 {"count":3,"done":[],"failed":[4]}"#, "replayed 1"])
    }
  }

  // While the disk was full, every turn of any client wrote a session of 100,000 todos as a whole.
  @Test("while the journal cannot be written, the shard retries one session each second")
  func retries() async throws {
    let journal = MemoryJournal()
    try await Shard.journaled(journal).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.join(listener)
      journal.isFull = true
      try shard.send(#"{"type":"add","amount":2}"#, participant, to: "errands")
      #expect(journal.refusals == 1)
      for seconds in 1...3 {
        await shard.pass(seconds: 1)
        for _ in 1...20 { shard.turn {} }
        #expect(journal.refusals == 1 + seconds)
      }
      journal.isFull = false
      let before = journal.commits.count
      await shard.pass(seconds: 1)
      #expect(journal.commits.count == before + 1)
      #expect(try journal.load().sessions[0].stores[0].revision == 1)
    }
  }

  // The first such session was retried again and again, and the other sessions never.
  @Test(
    "a session that is too large for the disk does not prevent the writing of other sessions",
    arguments: [false, true])
  func oneTooLarge(isAskedFor: Bool) async throws {
    let journal = MemoryJournal()
    try await Shard.journaled(journal).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let joined = try (1...5).map { _ in try shard.join(listener) }
      let handles = joined.map(\.1)
      journal.isFull = true
      for (participant, _) in joined {
        try shard.send(#"{"type":"add","amount":2}"#, participant, to: "errands")
      }
      journal.isFull = false
      journal.tooLarge = [handles[1], handles[3]]
      for _ in 1...5 {
        shard.advanceWithoutTurn(seconds: 1)
        // Its client returns repeatedly, before every other turn.
        if isAskedFor {
          let refusals = journal.refusals
          let delivery = try shard.turn {
            let (guest, _) = try shard.attach(
              AttachRequest(handle: handles[1].description), from: listener.join(on: shard))
            defer { guest.session.leave(guest, isolation: shard) }
            return Delivery(to: guest.session, on: shard)
          }
          #expect(delivery.fate == .lost)
          #expect(journal.refusals > refusals)
        }
        await shard.pass(seconds: 0)
      }
      func written() throws -> [Bool] {
        let sessions = try journal.load().sessions
        return handles.map { handle in
          sessions.contains { $0.handle == handle && $0.stores.first?.revision == 1 }
        }
      }
      #expect(try written() == [true, false, true, false, true])
      journal.tooLarge = []
      for _ in 1...2 { await shard.pass(seconds: 1) }
      #expect(try written() == [true, true, true, true, true])
    }
  }

  @Test("the journal gets the state again when the changes since the last state are larger")
  func snapshots() async throws {
    let journal = MemoryJournal()
    try await Shard.journaled(journal).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.join(listener)
      let title = String(repeating: "x", count: 1000)
      for number in 1...100 {
        try shard.send(
          #"{"type":"put","id":"\#(number)","title":"\#(title)"}"#, participant, to: "shelf")
        let store = try #require(try journal.load().sessions[0].stores.first)
        let patched = store.patches.map(\.count).reduce(0, +)
        #expect(patched <= max(16 << 10, store.state?.count ?? 0))
      }
      let states = journal.entries.filter {
        if case .store(_, .state) = $0.event { true } else { false }
      }
      // Each state is about twice as large as the previous one, so there are few.
      #expect((3...6).contains(states.count))
      // The step before a state has no patch, which could be as large as the state.
      let entries = journal.entries
      for (step, state) in zip(entries, entries.dropFirst()) {
        guard case .store(_, .state) = state.event,
          case .store(_, .step(let patch, _, _)) = step.event
        else { continue }
        #expect(patch == nil)
      }
    }
  }

  @Test(
    "a store that cannot be journaled opens again with its first state, under the next revision")
  func undurable() async throws {
    let journal = MemoryJournal()
    let handle = try await Shard.journaled(journal).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.join(listener)
      try shard.turn {
        _ = try participant.session.open(
          "a", kind: "from", configuration: ["start": 40], isolation: shard)
      }
      try shard.send(#"{"type":"add","amount":2}"#, participant, to: "a")
      return handle
    }
    // Several times in succession.
    for revision in 2...3 {
      try await Shard.journaled(journal).run { shard in
        let listener = Listener()
        defer { withExtendedLifetime(listener) {} }
        try shard.restoreAll()
        let (participant, outcomes, _) = try shard.resume(
          handle, notifying: listener, [("a", 1), ("a", revision)])
        #expect(outcomes == [#"reopened \#(revision) {"count":40}"#, "replayed 0"])
        #expect(
          participant.session.refusal(opening: "a", as: "from", ["start": 40], on: shard) == nil)
      }
    }
  }

  @Test(
    "after a restart, an idle session keeps its deadline, and an attached one gets the full time")
  func expiry() async throws {
    let journal = MemoryJournal()
    let clock = ManualClock(start: .seconds(1000))
    func shard() -> Shard {
      Shard(
        executor: QueueExecutor(), kinds: .durable(), clock: clock, journal: journal)
    }
    func pass(_ seconds: Int) { clock.advance(to: clock.now.advanced(by: .seconds(seconds))) }
    let (left, held, over) = try await shard().run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (one, left) = try shard.join(listener)
      let (_, held) = try shard.join(listener)
      let (three, over) = try shard.join(listener)
      shard.turn { one.session.leave(one, isolation: shard) }
      shard.turn { three.session.close(by: three, isolation: shard) }
      return (left, held, over)
    }
    pass(100)
    let restarted = shard()
    try await restarted.run { shard in
      try shard.restoreAll()
      #expect(shard.refusal(comingBackTo: over) == "expired session")
    }
    pass(20)
    await restarted.run { shard in #expect(shard.refusal(comingBackTo: left) == "expired session") }
    pass(99)
    await restarted.run { shard in #expect(shard.refusal(comingBackTo: held) == nil) }
    // The time during which no process ran counts.
    let again = shard()
    try await again.run { shard in
      try shard.restoreAll()
      #expect(shard.refusal(comingBackTo: left) == "expired session")
      #expect(shard.refusal(comingBackTo: over) == "expired session")
    }
  }

  @Test("timers keep their deadlines, and other inputs follow their restart policies")
  func policies() async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    func shard(_ clock: ManualClock) -> Shard {
      Shard(executor: QueueExecutor(), kinds: .durable(bank), clock: clock, journal: journal)
    }
    let handle = try await shard(ManualClock(start: .seconds(1000))).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.join(listener)
      try shard.send(#"{"type":"later","item":1,"seconds":60}"#, participant, to: "errands")
      try shard.send(#"{"type":"later","item":2,"seconds":30}"#, participant, to: "errands")
      try shard.send(#"{"type":"risk","item":3}"#, participant, to: "errands")
      try shard.send(#"{"type":"idle","item":4}"#, participant, to: "errands")
      return handle
    }
    let clock = ManualClock(start: .seconds(1040))
    try await shard(clock).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let (_, outcomes, _) = try shard.resume(handle, notifying: listener, [("errands", 0)])
      #expect(outcomes == ["replayed 1"])
      await listener.hears(1, on: shard)
      #expect(listener.take().first?.contains(#""path":"/done/0","value":2"#) == true)
      await eventually("the work sleeps") { clock.sleeperCount > 0 }
      #expect(clock.nextDeadline?.offset == .seconds(20))
    }
    // An input's settling is journaled a little after its end.
    let left = try journal.load().sessions[0].stores[0].accepted.map(\.operation)
    #expect(left.first == 1 && !left.contains(3) && !left.contains(4))
  }

  @Test(
    "after a restart, the shard recognises an accepted input, and a client can wait for its end")
  func sequences() async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    let handle = try await Shard.journaled(journal, bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.join(listener, named: "page")
      try shard.send(#"{"type":"add","amount":1}"#, participant, to: "errands", sequence: 1)
      try shard.send(
        #"{"type":"later","item":8,"seconds":5}"#, participant, to: "errands", sequence: 2)
      return handle
    }
    try await Shard.journaled(journal, bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let (participant, _, sequence) = try shard.resume(
        handle, named: "page", notifying: listener, [("errands", 1)])
      #expect(sequence == 2)
      #expect(try participant.hasAccepted(2))
      let subscription = try participant.subscription("errands", isolation: shard)
      #expect(participant.running(1, subscription) == nil)
      let inputID = try #require(participant.running(2, subscription))
      let settled = Record()
      subscription.whenSettled(inputID) { settled.revision = $0.revision }
      #expect(settled.revision == nil)
      await shard.pass(seconds: 5)
      #expect(settled.revision == 2)
    }
  }

  @Test(
    "a store that cannot be decoded continues its revisions in its initial state, or closed")
  func damage() async throws {
    let journal = MemoryJournal()
    let handle = try await Shard.journaled(journal).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.join(listener)
      for store in ["errands", "shelf", "counter"] {
        _ = try shard.turn { try participant.subscription(store, isolation: shard) }
      }
      try shard.send(#"{"type":"add","amount":1}"#, participant, to: "errands")
      return handle
    }
    let entries =
      journal.entries + [
        JournalEntry(
          handle, .store("shelf", .state(.text(Array(#"{"items":7}"#.utf8)), revision: 4))),
        JournalEntry(
          handle,
          .store("counter", .opened(kind: "gone", configuration: Array("{}".utf8), revision: 2))),
        JournalEntry(
          handle,
          .store("errands", .step(patch: Array("[{]".utf8), revision: 2, frame: Array("x".utf8)))),
        JournalEntry(
          handle,
          .store("errands", .accepted(operation: 7, epoch: 1, input: Array("?".utf8), at: .zero))),
      ]
    let damaged = MemoryJournal([entries])
    try await Shard.journaled(damaged).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let words = try shard.restore()
      #expect(words.count == 3)
      #expect(words.allSatisfy { !$0.contains(handle.description) })
      let (participant, outcomes, _) = try shard.resume(
        handle, notifying: listener, [("shelf", 4), ("counter", 2), ("errands", 1)])
      // Of the `errands` store, all is restored except the damaged entries.
      #expect(
        outcomes
          == [
            #"unreadable 5 {"items":[]}"#, "closed",
            #"reopened 3 {"count":1,"done":[],"failed":[]}"#,
          ])
      for (store, revision) in [("shelf", 5), ("counter", 3)] {
        let opened = try shard.turn {
          try participant.session.open(store, kind: store, configuration: [:], isolation: shard)
        }
        #expect(opened == revision)
      }
      // No number is used twice.
      let result = try shard.send(
        #"{"type":"write","item":1}"#, participant, to: "errands")
      #expect(result.map { $0.inputID.rawValue > 7 } == true)
    }
    // The journal now contains the repaired state.
    try await Shard.journaled(damaged).run { shard in try shard.restoreAll() }
  }
}

/// The revision at which an input settled.
private final class Record {
  var revision: Int?
}

/// An observer that records a value at the end of a turn.
private final class Observer: TurnObserver {
  private let note: () -> Int
  private(set) var seen: Int?

  init(_ note: @escaping () -> Int) { self.note = note }

  func turnEnded() { seen = note() }
}
