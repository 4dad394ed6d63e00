// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

/// Turns run while commits go on, and what waits for a commit continues after it.
@Suite("Commits beside turns", .timeLimit(.minutes(5)))
struct CommitTests {
  private let journal = MemoryJournal()
  private let hand = HeldJobs()

  private func shard(_ bank: Bank = Bank(), _ clock: ManualClock = ManualClock()) -> Shard {
    Shard(
      executor: QueueExecutor(), kinds: .durable(bank), clock: clock, journal: journal,
      journalThreads: JournalThreads(commit: hand.add, notify: { $0() }))
  }

  private func add(_ amount: Int) -> String { #"{"type":"add","amount":\#(amount)}"# }

  /// Sends an input, and something to the client in the same turn.
  private func deliver(
    _ input: String, _ participant: Participant, _ shard: isolated Shard
  ) throws -> Delivery {
    try shard.turn {
      try shard.send(input, participant, to: "errands")
      return Delivery(to: participant.session, on: shard)
    }
  }

  @Test("turns that run while a commit goes on share the next one, and are delivered in order")
  func group() async throws {
    try await shard().run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.sit(listener)
      hand.run()
      let before = journal.commits.count
      let first = try deliver(add(1), participant, shard)
      #expect(hand.count == 1)
      // Turns that come in the middle of a commit.
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

  @Test("a client that reads what a turn has done waits for that turn, and no other client does")
  func readers() async throws {
    try await shard().run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let ((participant, _), (other, _)) = (try shard.sit(listener), try shard.sit(listener))
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

  @Test("a turn that fails takes later ones of its session with it, and none of another")
  func failure() async throws {
    let clock = ManualClock()
    try await shard(Bank(), clock).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.sit(listener)
      let (other, otherHandle) = try shard.sit(listener)
      func revisions() throws -> [Revision?] {
        let sessions = try journal.load().sessions
        return [handle, otherHandle].map { handle in
          sessions.first { $0.handle == handle }?.stores.first?.revision
        }
      }
      hand.run()
      journal.tooLarge = [handle]
      let fates = try [participant, other, participant].map { try deliver(add(1), $0, shard) }
      journal.whenCommitted = { journal.tooLarge = [] }
      hand.run()
      #expect(fates.map(\.fate) == [.lost, .sent, .lost])
      #expect(listener.cuts > 0)
      #expect(try revisions() == [nil, 1])
      // As a whole, since nothing of it can follow on what is there.
      clock.advance(to: clock.now.advanced(by: .seconds(1)))
      shard.turn {}
      hand.run()
      #expect(try revisions() == [2, 1])
      // And on from there.
      try shard.send(add(1), participant, to: "errands")
      hand.run()
      #expect(try revisions() == [3, 1])
    }
  }

  @Test("a failure of a turn before a session was written as a whole does not concern it any more")
  func lateFailure() async throws {
    let clock = ManualClock()
    try await shard(Bank(), clock).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.sit(listener)
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

  @Test("work begins once its input is in the journal")
  func work() async throws {
    let bank = Bank()
    try await shard(bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.sit(listener)
      hand.run()
      try shard.send(#"{"type":"write","item":1}"#, participant, to: "errands")
      shard.turn {}
      #expect(bank.items == [])
      hand.run()
      try await bank.holds([1])
    }
  }

  @Test("a shard that ends waits for its commits")
  func end() async throws {
    let shard = shard()
    try await shard.run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.sit(listener)
      try shard.send(add(1), participant, to: "errands")
    }
    async let ended: Void = shard.stop()
    try await hand.reaches(1)
    await shard.run { _ in hand.run() }
    await ended
    #expect(try journal.load().sessions[0].stores[0].revision == 1)
  }

  @Test("where the disk stands still, what is too much for memory fails, and is written later")
  func slow() async throws {
    let (clock, count) = (ManualClock(), 40)
    let title = String(repeating: "x", count: 1 << 20)
    try await shard(Bank(), clock).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.sit(listener)
      let (other, _) = try shard.sit(listener)
      hand.run()
      // Patches, frames and now and then the state: more than twice as much as the titles.
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
