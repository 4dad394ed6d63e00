// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireProtocol
import Testing

@testable import Sessions

@Suite("Restored work", .timeLimit(.minutes(15)))
struct RestoredWorkTests {
  @Test("a crash counts for a session until its restored work has ended, and not for new inputs")
  func marks() async throws {
    let (commits, handle) = try await life([#"{"type":"later","item":1,"seconds":20}"#])
    let counter = RecordingCrashes()
    try await Shard.journaled(MemoryJournal(commits, counter: counter)).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      #expect(counter.take() == ["performs"])
      let (participant, _, _) = try shard.resume(handle, notifying: listener)
      try shard.send(#"{"type":"add","amount":1}"#, participant, to: "errands")
      #expect(counter.take() == [])
      await shard.pass(seconds: 20)
      let notes = counter.take()
      #expect(notes.count >= 2 && notes.dropLast().allSatisfy { $0 == "performs" })
      #expect(notes.last == "ended")
      try shard.send(#"{"type":"later","item":2,"seconds":1}"#, participant, to: "errands")
      await shard.pass(seconds: 1)
      #expect(counter.take() == [])
    }
  }

  @Test(
    "restored work ends when it is cancelled by a stop, or immediately if there is none",
    arguments: [true, false])
  func ends(hasWork: Bool) async throws {
    let inputs = hasWork ? [#"{"type":"later","item":1,"seconds":20}"#] : []
    let (commits, _) = try await life([#"{"type":"add","amount":1}"#] + inputs)
    let counter = RecordingCrashes()
    try await Shard.journaled(MemoryJournal(commits, counter: counter)).run { shard in
      try shard.restoreAll()
      #expect(counter.take() == (hasWork ? ["performs"] : ["performs", "ended"]))
      shard.closeStores()
      #expect(counter.take() == (hasWork ? ["ended"] : []))
    }
  }

  @Test("a session that is set aside does not change or expire until it is loaded again")
  func setAside() async throws {
    var (commits, handle) = try await life(
      [#"{"type":"add","amount":3}"#, #"{"type":"later","item":1,"seconds":20}"#], leaves: true)
    // In two processes in succession.
    for _ in 1...2 {
      let journal = MemoryJournal(commits, counter: RecordingCrashes(setsAside: true))
      commits = try await Shard.journaled(journal).run { [handle] shard in
        shard.advanceWithoutTurn(seconds: 1000)
        let damage = try shard.restore()
        #expect(damage.count == 1)
        #expect(damage.first?.contains("\(handle.description.prefix(8))... is set aside") == true)
        #expect(damage.first?.contains(#""errands" of kind "errands""#) == true)
        #expect(damage.first?.contains(handle.description) == false)
        await shard.pass(seconds: 1000)
        shard.turn { shard.expireSessions() }
        #expect(shard.refusal(comingBackTo: handle) == "set aside")
        let listener = Listener()
        let foreign = AttachRequest(handle: handle.description, identity: "bob")
        #expect(shard.refusal(foreign, from: listener.join(on: shard)) == "unknown session")
        return journal.commits
      }
    }
    try await Shard.journaled(MemoryJournal(commits)).run { [handle] shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      shard.advanceWithoutTurn(seconds: 3000)
      try shard.restoreAll()
      let (_, outcomes, _) = try shard.resume(
        handle, notifying: listener, [(store: "errands", revision: 1)])
      #expect(outcomes == ["replayed 0"])
      await shard.pass(seconds: 20)
      #expect(listener.take().count == 1)
    }
  }

  /// Returns the journal of a session that has received these inputs, and the handle of the
  /// session.
  private func life(
    _ inputs: [String], leaves: Bool = false
  ) async throws -> ([[JournalEntry]], SessionHandle) {
    let journal = MemoryJournal()
    return try await Shard.journaled(journal).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let (participant, handle) = try shard.join(listener)
      for input in inputs { try shard.send(input, participant, to: "errands") }
      if leaves { shard.turn { participant.session.leave(participant, isolation: shard) } }
      return (journal.commits, handle)
    }
  }
}
