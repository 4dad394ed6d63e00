// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

/// Turns that run during commits, and deliveries and work that wait for a commit.
@Suite("Commits during turns", .timeLimit(.minutes(15)))
struct CommitTests {
  private let journal = MemoryJournal()
  private let hand = HeldJobs()

  private func shard(_ bank: Bank = Bank(), _ clock: ManualClock = ManualClock()) -> Shard {
    Shard(
      executor: QueueExecutor(), kinds: .durable(bank), clock: clock, journal: journal,
      journalThreads: JournalThreads(commit: hand.add, notify: { $0() }))
  }

  private func add(_ amount: Int) -> String { #"{"type":"add","amount":\#(amount)}"# }

  /// Sends an input, and delivers something to the client in the same turn.
  private func deliver(
    _ input: String, _ participant: Participant, _ shard: isolated Shard
  ) throws -> Delivery {
    try shard.turn {
      try shard.send(input, participant, to: "errands")
      return Delivery(to: participant.session, on: shard)
    }
  }

  @Test("turns that run during a commit share the next commit and are delivered in order")
  func group() async throws {
    try await shard().run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.join(listener)
      hand.run()
      let before = journal.commits.count
      let first = try deliver(add(1), participant, shard)
      #expect(hand.count == 1)
      // Turns that run during the commit.
      var later: [Delivery] = []
      journal.whenCommitted = {
        journal.whenCommitted = nil
        later =
          (try? [deliver(add(2), participant, shard), deliver(add(3), participant, shard)]) ?? []
      }
      hand.run()
      #expect(later.count == 2)
      #expect(([first] + later).map(\.fate) == [.sent, .sent, .sent])
      #expect(journal.commits.count == before + 2)
      #expect(journal.commits.last?.count == 2)
      #expect(try journal.load().sessions[0].stores[0].revision == 3)
    }
  }

  @Test("a client that reads a turn's result waits for the turn's commit, and other clients do not")
  func readers() async throws {
    try await shard().run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let ((participant, _), (other, _)) = (try shard.join(listener), try shard.join(listener))
      hand.run()
      try shard.send(add(1), participant, to: "errands")
      let (reader, outsider) = shard.turn {
        (Delivery(to: participant.session, on: shard), Delivery(to: other.session, on: shard))
      }
      #expect(reader.fate == .waits && outsider.fate == .sent)
      hand.run()
      #expect(reader.fate == .sent)
    }
  }

  @Test("a failed commit fails later turns of the same session, and no turn of another session")
  func failure() async throws {
    let clock = ManualClock()
    try await shard(Bank(), clock).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.join(listener)
      let (other, otherHandle) = try shard.join(listener)
      func revisions() throws -> [Revision?] {
        let sessions = try journal.load().sessions
        return [handle, otherHandle].map { handle in
          sessions.first { $0.handle == handle }?.stores.first?.revision
        }
      }
      hand.run()
      journal.tooLarge = [handle]
      let fates = try [participant, other, participant].map { try deliver(add(1), $0, shard) }
      journal.whenCommitted = { [unowned journal] in journal.tooLarge = [] }
      hand.run()
      #expect(fates.map(\.fate) == [.lost, .sent, .lost])
      #expect(listener.cuts > 0)
      #expect(try revisions() == [nil, 1])
      // The session is written as a whole, because the journal has no state that entries can
      // follow.
      clock.advance(to: clock.now.advanced(by: .seconds(1)))
      shard.turn {}
      hand.run()
      #expect(try revisions() == [2, 1])
      // Later turns are written as entries again.
      try shard.send(add(1), participant, to: "errands")
      hand.run()
      #expect(try revisions() == [3, 1])
    }
  }

  @Test(
    "after a session was written as a whole, the failure of an earlier commit does not affect it")
  func lateFailure() async throws {
    let clock = ManualClock()
    try await shard(Bank(), clock).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.join(listener)
      hand.run()
      journal.isFull = true
      try shard.send(add(1), participant, to: "errands")
      hand.run()
      journal.isFull = false
      clock.advance(to: clock.now.advanced(by: .seconds(1)))
      let delivery = try deliver(add(1), participant, shard)
      try shard.send(add(1), participant, to: "errands")
      hand.run()
      #expect(delivery.fate == .sent && listener.cuts == 1)
      let session = try #require(try journal.load().sessions.first)
      #expect(session.handle == handle && session.stores[0].revision == 3)
    }
  }

  @Test("work begins when its input is in the journal")
  func work() async throws {
    let bank = Bank()
    try await shard(bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.join(listener)
      hand.run()
      try shard.send(#"{"type":"write","item":1}"#, participant, to: "errands")
      shard.turn {}
      #expect(bank.items == [])
      hand.run()
      try await bank.holds([1])
    }
  }

  @Test("a shard that stops waits for its commits")
  func end() async throws {
    let shard = shard()
    try await shard.run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.join(listener)
      try shard.send(add(1), participant, to: "errands")
    }
    async let ended: Void = shard.stop()
    try await hand.reaches(1)
    await shard.run { _ in hand.run() }
    await ended
    #expect(try journal.load().sessions[0].stores[0].revision == 1)
  }

  @Test("while the disk is blocked, turns beyond the memory limit fail, and are written later")
  func slow() async throws {
    let (clock, count) = (ManualClock(), 40)
    let title = String(repeating: "x", count: 1 << 20)
    try await shard(Bank(), clock).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.join(listener)
      let (other, _) = try shard.join(listener)
      hand.run()
      // Patches, updates and occasional states have more than twice the bytes of the titles.
      for number in 1...count {
        try shard.send(
          #"{"type":"put","id":"\#(number)","title":"\#(title)"}"#, participant, to: "shelf")
      }
      let before = try deliver(add(1), other, shard)
      hand.run()
      #expect(listener.cuts > 0 && before.fate == .sent)
      clock.advance(to: clock.now.advanced(by: .seconds(1)))
      for _ in 1...3 {
        shard.turn {}
        hand.run()
      }
      let revisions = try journal.load().sessions.map { $0.stores.first?.revision }
      #expect(Set(revisions) == [count, 1])
    }
  }
}
