// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

/// Work has effects outside of the process. Its input must be in the journal before it begins, and
/// each of its operations has an id that no other input ever has.
@Suite("Work and the journal", .timeLimit(.minutes(15)))
struct DelayedWorkTests {
  @Test(
    "work begins when its input is in the journal, and waits while the journal cannot be written")
  func waits() async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    try await Shard.journaled(journal, bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.join(listener)
      try shard.send(#"{"type":"write","item":1}"#, participant, to: "errands")
      await shard.pass(seconds: 0)
      #expect(bank.items == [1])
      journal.isFull = true
      for item in 2...4 {
        try shard.send(#"{"type":"write","item":\#(item)}"#, participant, to: "errands")
      }
      await shard.pass(seconds: 0)
      #expect(bank.items == [1])
      journal.isFull = false
      // No client calls the session. A second after a failed commit, any turn retries it.
      var accepted: [Int] = []
      journal.whenCommitted = { [unowned journal] in
        if let contents = try? journal.load() {
          accepted.append(contents.sessions[0].stores[0].accepted.count)
        }
      }
      await shard.pass(seconds: 1)
      journal.whenCommitted = nil
      #expect(accepted.first == 3)
      // The work that begins at the end of that turn.
      await shard.pass(seconds: 0)
      #expect(bank.items == [1, 2, 3, 4])
      #expect(try journal.load().sessions[0].stores[0].accepted.isEmpty)
    }
  }

  @Test("work that is cancelled in the turn that started it never begins")
  func cancelled() async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    try await Shard.journaled(journal, bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, _) = try shard.join(listener)
      try shard.turn {
        let errands = try participant.subscription("errands", isolation: shard)
        let result = try #require(try errands.send(#"{"type":"write","item":1}"#))
        errands.storeEntry.store.cancel(result.inputID)
        try errands.send(#"{"type":"write","item":2}"#)
      }
      try shard.turn {
        let errands = try participant.subscription("errands", isolation: shard)
        try errands.send(#"{"type":"write","item":3}"#)
        try participant.session.close("errands", isolation: shard)
      }
      await shard.pass(seconds: 0)
      #expect(bank.items == [2])
    }
  }

  @Test("a session is written as a whole before the updates for a client that leaves are sent")
  func leaving() async throws {
    let journal = MemoryJournal()
    try await Shard.journaled(journal).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.join(listener)
      journal.isFull = true
      try shard.send(#"{"type":"add","amount":1}"#, participant, to: "errands")
      #expect(try !shard.attachAndLeave(handle, listener))
      journal.isFull = false
      // The shard does not retry immediately.
      #expect(try !shard.attachAndLeave(handle, listener))
      shard.advanceWithoutTurn(seconds: 1)
      #expect(try shard.attachAndLeave(handle, listener))
      let store = try #require(try journal.load().sessions.first?.stores.first)
      #expect(store.revision == 4)
    }
  }

  @Test(
    "no operation id is used twice, also when the journal is incomplete or a session has no handle")
  func epochs() async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    let (handle, before) = try await Shard.journaled(journal, bank).run { shard in
      let (one, two) = (Listener(), Listener())
      defer { withExtendedLifetime((one, two)) {} }
      try shard.restoreAll()
      let (participant, handle) = try shard.join(one)
      try shard.send(#"{"type":"add","amount":1}"#, participant, to: "errands")
      let before = journal.commits
      try shard.send(#"{"type":"write","item":1}"#, participant, to: "errands")
      try shard.send(#"{"type":"write","item":2}"#, two.join(on: shard), to: "errands")
      await shard.pass(seconds: 0)
      return (handle, before)
    }
    #expect(bank.items == [1, 2])
    try await Shard.journaled(MemoryJournal(before, loads: 1), bank).run { shard in
      let (one, two) = (Listener(), Listener())
      defer { withExtendedLifetime((one, two)) {} }
      try shard.restoreAll()
      let (participant, _, _) = try shard.resume(handle, notifying: one)
      try shard.send(#"{"type":"write","item":3}"#, participant, to: "errands")
      try shard.send(#"{"type":"write","item":4}"#, two.join(on: shard), to: "errands")
      await shard.pass(seconds: 0)
    }
    #expect(bank.items == [1, 2, 3, 4])
    // Outside of tests, epochs are random.
    func epoch() async -> UInt64? {
      let shard = Shard(executor: QueueExecutor(), kinds: [], journal: MemoryJournal())
      return await shard.run { $0.commits?.epoch }
    }
    #expect(await epoch() != epoch())
  }
}

extension Shard {
  /// Attaches another client, sends an input and leaves, all in one turn.
  ///
  /// - Returns: True if the client's updates were sent.
  fileprivate func attachAndLeave(_ handle: SessionHandle, _ listener: Listener) throws -> Bool {
    let delivery = try turn {
      let request = AttachRequest(handle: handle.description)
      let (guest, _) = try attach(request, from: listener.join(on: self))
      try guest.subscription("errands", isolation: self).send(#"{"type":"add","amount":1}"#)
      let delivery = Delivery(to: guest.session, on: self)
      guest.session.leave(guest, isolation: self)
      return delivery
    }
    return delivery.fate == .sent
  }
}
