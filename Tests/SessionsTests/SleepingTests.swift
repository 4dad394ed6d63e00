// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

/// Sessions without a client and without work leave the memory, and come back.
@Suite("Sleeping sessions", .timeLimit(.minutes(15)))
struct SleepingTests {
  private let journal = MemoryJournal()
  private let clock = ManualClock(start: .seconds(1000))
  private let hand = HeldJobs()
  private let reports = Record<String>()

  private func shard(limits change: (inout SessionLimits) -> Void = { _ in }) throws -> Shard {
    var limits = SessionLimits()
    limits.timeToLive = .seconds(120)
    limits.sleepAfter = .seconds(30)
    change(&limits)
    let shard = Shard(
      executor: QueueExecutor(), kinds: .durable(Bank()), limits: limits, clock: clock,
      journal: journal, journalThreads: JournalThreads(commit: hand.add, notify: { $0() }))
    return shard
  }

  private func begin(_ shard: isolated Shard) throws {
    try shard.beginRestoring(report: reports.add)
    work()
  }

  private func work() { while hand.count > 0 { hand.run() } }

  private func pass(_ seconds: Int, _ shard: isolated Shard) {
    clock.advance(to: clock.now.advanced(by: .seconds(seconds)))
    shard.sweepSessions()
    work()
  }

  /// Opens a session, sends inputs, and leaves.
  private func leave(
    _ shard: isolated Shard, _ inputs: [(store: String, input: String)], identity: String? = nil
  ) throws -> SessionHandle {
    let listener = Listener()
    defer { withExtendedLifetime(listener) {} }
    let participant = listener.join(on: shard)
    let handle = try shard.turn {
      try participant.session.open(
        for: participant, named: "phone", identity: identity, isolation: shard)
    }
    for (index, (store, input)) in inputs.enumerated() {
      try shard.send(input, participant, to: store, sequence: index + 1)
    }
    shard.turn { participant.session.leave(participant, isolation: shard) }
    work()
    return handle
  }

  private func add(_ amount: Int) -> (String, String) {
    ("errands", #"{"type":"add","amount":\#(amount)}"#)
  }

  private func wake(
    _ handle: SessionHandle, _ shard: isolated Shard,
    _ revisions: [(store: String, revision: Int?)]
  ) throws -> (outcomes: [String], sequence: Int?) {
    let listener = Listener()
    defer { withExtendedLifetime(listener) {} }
    shard.whenLoaded(handle.description) { _ in }
    work()
    let resumed = try shard.resume(handle, named: "phone", notifying: listener, revisions)
    shard.turn {
      resumed.participant.session.leave(resumed.participant, isolation: shard)
    }
    work()
    return (resumed.outcomes, resumed.sequence)
  }

  @Test("a session sleeps after its time, and wakes with its revisions and sequences, repeatedly")
  func wakes() async throws {
    try await shard().run { shard in
      try begin(shard)
      let handle = try leave(shard, [add(1), add(2)])
      let stores = shard.metrics.kind("errands").stores
      pass(29, shard)
      #expect(stores.value == 1)
      #expect(shard.directory.count == 1)
      for round in 1...3 {
        weak let entry = shard.directory[handle]?.entriesInOrder.first
        pass(30, shard)
        #expect(shard.directory.count == 0 && entry == nil && stores.value == 0)
        #expect(shard.accounts.all.bytes == 0 && shard.group.census.count == 0)
        #expect(journal.awake == [] && journal.loaded.count == round - 1)
        let mustLoad = shard.mustLoad(handle.description)
        #expect(mustLoad)
        let (outcomes, sequence) = try wake(
          handle, shard, [("errands", 1), ("errands", nil)])
        #expect(outcomes == ["replayed 1", #"none 2 {"count":3,"done":[],"failed":[]}"#])
        #expect(sequence == 2 && journal.loaded.count == round && stores.value == 1)
      }
      #expect(reports.all == [])
    }
  }

  @Test("a session with work, or with a state that is not journaled, stays awake")
  func staysAwake() async throws {
    try await shard().run { shard in
      try begin(shard)
      let working = try leave(
        shard, [("errands", #"{"type":"later","item":1,"seconds":45}"#)])
      await eventually("its timer runs") { clock.sleeperCount == 1 }
      let plain = try leave(shard, [("counter", #"{"type":"add","amount":1}"#)])
      let idle = try leave(shard, [add(1)])
      pass(31, shard)
      #expect(shard.directory[working] != nil && shard.directory[plain] != nil)
      #expect(shard.directory[idle] == nil)
      // After its work has ended it sleeps as well.
      pass(20, shard)
      try await eventually("the work ends") {
        work()
        let session = try journal.load().sessions.first { $0.handle == working }
        return session?.stores.first?.accepted.isEmpty == true
      }
      pass(31, shard)
      #expect(shard.directory[working] == nil && shard.directory[plain] != nil)
      let (outcomes, _) = try wake(working, shard, [("errands", nil)])
      #expect(outcomes == [#"none 1 {"count":0,"done":[1],"failed":[]}"#])
    }
  }

  @Test("a session sleeps only when its entries are in the journal and no client is attached")
  func uncommitted() async throws {
    try await shard().run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try begin(shard)
      let (participant, handle) = try shard.join(listener)
      try shard.send(add(1).1, participant, to: "errands")
      work()
      pass(100, shard)
      #expect(shard.directory[handle] != nil)
      shard.turn { participant.session.leave(participant, isolation: shard) }
      clock.advance(to: clock.now.advanced(by: .seconds(30)))
      shard.sweepSessions()
      #expect(shard.directory[handle] != nil)
      work()
      pass(30, shard)
      #expect(shard.directory[handle] == nil)
    }
  }

  @Test("a session that sleeps expires at its deadline without being loaded")
  func expires() async throws {
    try await shard().run { shard in
      try begin(shard)
      let handle = try leave(shard, [add(1)])
      pass(30, shard)
      pass(60, shard)
      #expect(try journal.load().sessions.count == 1)
      pass(31, shard)
      #expect(try journal.load().sessions.isEmpty && journal.loaded == [])
      shard.whenLoaded(handle.description) { _ in }
      work()
      #expect(shard.refusal(comingBackTo: handle) == "expired session")
      var numbers = FixedNumbers(seed: 8)
      let unknown = SessionHandle(using: &numbers)
      shard.whenLoaded(unknown.description) { _ in }
      work()
      #expect(shard.refusal(comingBackTo: unknown) == "unknown session")
    }
  }

  @Test("at the limit, the session that was left first sleeps in favor of a new one")
  func limit() async throws {
    try await shard(limits: { $0.sessions = 2 }).run { shard in
      try begin(shard)
      let handles = [
        try leave(shard, [add(1)]), try leave(shard, [add(2)]),
        try leave(shard, [add(3)]),
      ]
      #expect(shard.directory[handles[0]] == nil && shard.directory.count == 2)
      // A session that wakes takes the place of another one.
      let (outcomes, _) = try wake(handles[0], shard, [("errands", nil)])
      #expect(outcomes == [#"none 1 {"count":1,"done":[],"failed":[]}"#])
      #expect(shard.directory[handles[1]] == nil && shard.directory.count == 2)
      #expect(try journal.load().sessions.count == 3)
    }
  }

  // The first 100 entries were outdated, so the newest session was ended.
  @Test("at the limit, clients that came back before are no reason to end a session")
  func limitAfterReturns() async throws {
    try await shard(limits: { $0.sessions = 2 }).run { shard in
      try begin(shard)
      let first = try leave(shard, [add(1)])
      for _ in 1...101 { _ = try wake(first, shard, []) }
      let second = try leave(shard, [add(2)])
      _ = try leave(shard, [add(3)])
      #expect(shard.directory[first] == nil && shard.directory[second] != nil)
      #expect(try journal.load().sessions.count == 3)
    }
  }

  // Each return left an entry until its time, and they were removed more slowly than they came.
  @Test("clients that come and go leave few outdated entries")
  func returns() async throws {
    try await shard().run { shard in
      try begin(shard)
      let handle = try leave(shard, [add(1)])
      for _ in 1...500 {
        clock.advance(to: clock.now.advanced(by: .milliseconds(1)))
        _ = try wake(handle, shard, [])
      }
      #expect(shard.sleepQueue.count <= 103)
      pass(30, shard)
      #expect(shard.directory[handle] == nil)
    }
  }

  @Test("at the limit of an identity, a session of the identity sleeps")
  func identityLimit() async throws {
    try await shard(limits: { $0.sessionsPerIdentity = 1 }).run { shard in
      try begin(shard)
      let first = try leave(shard, [add(1)], identity: "ann")
      let other = try leave(shard, [add(1)], identity: "bob")
      let second = try leave(shard, [add(2)], identity: "ann")
      #expect(shard.directory[first] == nil)
      #expect(shard.directory[other] != nil && shard.directory[second] != nil)
      // Another identity does not get the session.
      shard.whenLoaded(first.description) { _ in }
      work()
      #expect(shard.refusal(comingBackTo: first) == "unknown session")
    }
  }

  @Test("sessions do not sleep without a time for that")
  func off() async throws {
    try await shard(limits: { $0.sleepAfter = nil }).run { shard in
      try begin(shard)
      let handle = try leave(shard, [add(1)])
      pass(119, shard)
      #expect(shard.directory[handle] != nil)
    }
  }
}
