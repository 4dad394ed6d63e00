// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

/// Loading of an earlier process's sessions, one by one, each when it is needed.
@Suite("Loading sessions one by one", .timeLimit(.minutes(15)))
struct LoadingTests {
  private let journal = MemoryJournal()
  private let bank = Bank()
  private let clock = ManualClock(start: .seconds(1000))
  private let hand = HeldJobs()
  private let reports = Record<String>()

  /// Returns a shard. With `hasThread`, its journal has a thread, whose jobs `work()` runs.
  private func shard(
    _ journal: MemoryJournal? = nil, limits: SessionLimits = .init(), hasThread: Bool = true
  ) -> Shard {
    Shard(
      executor: QueueExecutor(),
      kinds: .durable(bank) + [
        StoreKind("ticker") { Ticker() },
        StoreKind("board", scope: .shared(keptFor: .seconds(1000))) { Errands(bank: bank) },
      ], limits: limits, clock: clock,
      journal: journal ?? self.journal,
      journalThreads: hasThread ? JournalThreads(commit: hand.add, notify: { $0() }) : nil)
  }

  private func pass(_ seconds: Int) {
    clock.advance(to: clock.now.advanced(by: .seconds(seconds)))
  }

  private func work() { while hand.count > 0 { hand.run() } }

  /// Runs the body in a process, and then kills that process.
  private func live<Result: Sendable>(
    _ body: @Sendable (isolated Shard, Listener) throws -> Result
  ) async throws -> Result {
    try await shard().run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let result = try body(shard, listener)
      shard.turn {}
      work()
      return result
    }
  }

  /// Returns a session whose stores have received these inputs and whose client has left.
  private func session(_ inputs: [(store: String, input: String)]) async throws -> SessionHandle {
    try await live { shard, listener in
      let (participant, handle) = try shard.join(listener)
      for (store, input) in inputs { try shard.send(input, participant, to: store) }
      shard.turn { participant.session.leave(participant, isolation: shard) }
      return handle
    }
  }

  private func add(_ amount: Int, to store: String = "errands") -> (String, String) {
    (store, #"{"type":"add","amount":\#(amount)}"#)
  }

  private func write(_ item: Int, to store: String = "errands") -> (String, String) {
    (store, #"{"type":"write","item":\#(item)}"#)
  }

  /// Attaches after the session is loaded, as a connection does.
  private func attachWhenLoaded(
    to handle: SessionHandle, _ listener: Listener, on shard: isolated Shard,
    _ revisions: [(store: String, revision: Int?)] = []
  ) throws -> [String] {
    shard.whenLoaded(handle.description) { _ in }
    work()
    return try shard.resume(handle, notifying: listener, revisions).outcomes
  }

  @Test("given sessions without unfinished work, only one to which a client returns is loaded")
  func attached() async throws {
    let handles = [try await session([add(1)]), try await session([add(2)])]
    try await shard().run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.beginRestoring(report: reports.add)
      #expect(shard.mustLoad(handles[1].description) == true)
      // The client returns before the start of the journal has been read.
      let calls = Record<[String]>()
      shard.whenLoaded(handles[1].description) { _ in calls.add([]) }
      work()
      #expect(calls.count == 1)
      shard.continueSessions()
      work()
      #expect(journal.loaded == [handles[1]])
      #expect(shard.mustLoad(handles[1].description) == false)
      let (_, states, _) = try shard.resume(
        handles[1], notifying: listener, [("errands", 0), ("errands", nil)])
      #expect(states == ["replayed 1", #"none 1 {"count":2,"done":[],"failed":[]}"#])
      // A text that is no handle waits for nothing; only the journal knows other handles.
      #expect(shard.mustLoad("?") == false)
      #expect(shard.mustLoad(handles[0].description) == true)
      #expect(journal.loaded.count == 1 && reports.all == [])
    }
  }

  @Test(
    "sessions with unfinished inputs continue without a client, in order across their stores",
    arguments: [true, false])
  func continuing(hasThread: Bool) async throws {
    @Sendable func risk(_ item: Int) -> String { #"{"type":"risk","item":\#(item)}"# }
    let (one, two) = try await live { shard, listener in
      let ((first, one), (second, two)) = (try shard.join(listener), try shard.join(listener))
      try shard.turn {
        _ = try first.session.open("b", kind: "errands", configuration: [:], isolation: shard)
      }
      for (item, store) in ["errands", "b", "errands"].enumerated() {
        try shard.send(risk(item), first, to: store)
        pass(1)
      }
      try shard.send(risk(4), second, to: "errands")
      for participant in [first, second] {
        shard.turn { participant.session.leave(participant, isolation: shard) }
      }
      return (one, two)
    }
    let idle = try await session([add(1)])
    let killed = MemoryJournal(journal.commits)
    #expect(try killed.continuing(after: nil, limit: 10).handles == [one, two])
    let before = killed.entries.count
    try await shard(killed, hasThread: hasThread).run { shard in
      try shard.beginRestoring(report: reports.add)
      work()
      shard.turn {}
      work()
      #expect(killed.loaded == [] && killed.entries.count == before)
      shard.continueSessions()
      work()
      #expect(killed.loaded == [one, two] && shard.directory[idle] == nil)
    }
    let settled = killed.entries[before...].compactMap { entry in
      if case .store(let name, .settled) = entry.event { (entry.session, name) } else { nil }
    }
    #expect(settled.map(\.0) == [one, one, one, two])
    #expect(settled.map(\.1) == ["errands", "b", "errands", "errands"])
  }

  @Test("a session to which a client returns before it has continued is restored first")
  func early() async throws {
    let one = try await session([("errands", #"{"type":"later","item":1,"seconds":60}"#)])
    let two = try await session([("errands", #"{"type":"later","item":2,"seconds":60}"#)])
    try await shard().run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.beginRestoring(report: reports.add)
      #expect(
        try attachWhenLoaded(to: two, listener, on: shard, [("errands", 0)]) == ["replayed 0"])
      shard.continueSessions()
      work()
      #expect(journal.loaded == [two, one])
    }
  }

  @Test("a store with effects outside of inputs continues; one without waits for a client")
  func alone() async throws {
    let running = try await session([("ticker", #"{"type":"start"}"#)])
    let stopped = try await session([
      ("ticker", #"{"type":"start"}"#), ("ticker", #"{"type":"stop"}"#),
    ])
    // The ticks start while no client is attached, and stop when the process is killed.
    let late = try await live { shard, listener in
      let (participant, handle) = try shard.join(listener)
      let session = participant.session
      try shard.send(#"{"type":"stop"}"#, participant, to: "ticker")
      shard.turn { session.leave(participant, isolation: shard) }
      work()
      #expect(try journal.load().sessions.last?.continuesAlone == false)
      try shard.turn {
        let store = try session.storeEntry("ticker", isolation: shard).store
        try Array(#"{"type":"start"}"#.utf8).withUnsafeBytes { input in
          var reader = JSONReader(input)
          _ = try store.send(reading: &reader, from: .server)
        }
      }
      return handle
    }
    // Its client was attached when the process was killed.
    let attached = try await live { shard, listener in try shard.join(listener).1 }
    let continuing = [running, late, attached]
    #expect(try journal.load().continuing(after: nil, limit: 10).handles == continuing)
    try await shard().run { shard in
      try shard.beginRestoring(report: reports.add)
      shard.continueSessions()
      work()
      #expect(journal.loaded == continuing && shard.directory[stopped] == nil)
      // The shard has found out again which sessions have to continue.
      shard.turn {}
      work()
      #expect(
        try journal.load().continuing(after: nil, limit: 10).handles == [running, late])
    }
  }

  @Test("an expired session is removed without being loaded, and its handle stays expired")
  func expired() async throws {
    let before = try await session([add(1)])
    pass(100)
    let meanwhile = try await session([add(2)])
    pass(50)
    try await shard().run { shard in
      try shard.beginRestoring(report: reports.add)
      work()
      shard.sweepSessions()
      work()
      // It expired while no process ran.
      #expect(try journal.load().sessions.map(\.handle) == [meanwhile])
      #expect(try attachExpired(before, on: shard) == "expired session")
      pass(69)
      shard.sweepSessions()
      work()
      #expect(try journal.load().sessions.map(\.handle) == [meanwhile])
      pass(1)
      // A client that returns too late is refused also before the session is removed.
      #expect(try attachExpired(meanwhile, on: shard) == "expired session")
      #expect(shard.directory.count == 0)
    }
    #expect(try journal.load().sessions.isEmpty)
    #expect(try journal.load().ended.map(\.handle) == [before, meanwhile])
    try await shard().run { shard in
      try shard.beginRestoring(report: reports.add)
      work()
      for handle in [before, meanwhile] {
        #expect(try attachExpired(handle, on: shard) == "expired session")
      }
      var numbers = FixedNumbers(seed: 4)
      #expect(
        try attachExpired(SessionHandle(using: &numbers), on: shard) == "unknown session")
    }
    #expect(reports.all == [])
  }

  private func attachExpired(
    _ handle: SessionHandle, on shard: isolated Shard
  ) throws -> String? {
    shard.whenLoaded(handle.description) { _ in }
    work()
    return shard.refusal(comingBackTo: handle)
  }

  @Test(
    "damage found while a session is loaded ends that session, and others are written as a whole")
  func damage() async throws {
    let handles = [
      try await session([add(1)]), try await session([add(2)]), try await session([add(3)]),
    ]
    let whole = MemoryJournal(journal.commits)
    try await shard(whole).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.beginRestoring(report: reports.add)
      _ = try attachWhenLoaded(to: handles[0], listener, on: shard)
      work()
      whole.damage = { loaded in
        loaded.session = nil
        loaded.damage = ["A session cannot be read completely: it has ended."]
        loaded.incomplete = [handles[0]]
      }
      let before = whole.commits.count
      shard.whenLoaded(handles[1].description) { _ in }
      work()
      #expect(shard.refusal(comingBackTo: handles[1]) == "expired session")
      #expect(reports.all == ["A session cannot be read completely: it has ended."])
      // The other session was in memory, and is written again from there.
      #expect(listener.cuts > 0)
      let rewritten = whole.commits[before...].joined().filter { $0.session == handles[0] }
      #expect(rewritten.first?.event == .opened(owner: nil))
      whole.damage = nil
      let states = try attachWhenLoaded(to: handles[2], listener, on: shard, [("errands", nil)])
      #expect(states == [#"none 1 {"count":3,"done":[],"failed":[]}"#])
    }
  }

  @Test("a session that cannot be loaded at the moment has not ended")
  func unreadable() async throws {
    let handle = try await session([add(1)])
    try await shard(hasThread: false).run { shard in
      try shard.beginRestoring(report: reports.add)
      journal.isUnreadable = true
      #expect(shard.refusal(comingBackTo: handle) == "unreadable")
      #expect(reports.count == 1 && reports.all.allSatisfy { !$0.contains(handle.description) })
      journal.isUnreadable = false
      pass(60)
      #expect(shard.refusal(comingBackTo: handle) == nil)
    }
  }

  @Test("sessions that could not be loaded in order to continue are loaded again later, in order")
  func retries() async throws {
    let handles = [
      try await session([("errands", #"{"type":"later","item":1,"seconds":90}"#)]),
      try await session([("errands", #"{"type":"later","item":2,"seconds":90}"#)]),
    ]
    try await shard().run { shard in
      try shard.beginRestoring(report: reports.add)
      journal.isUnreadable = true
      shard.continueSessions()
      work()
      for _ in 1...10 {
        shard.continueSessions()
        work()
      }
      #expect(reports.count == 2 && journal.loaded == [])
      journal.isUnreadable = false
      pass(60)
      shard.continueSessions()
      work()
      #expect(journal.loaded == handles)
    }
  }

  @Test("a session to which a client returned in time does not expire while it is loaded")
  func inTime() async throws {
    let handle = try await session([add(1)])
    try await shard().run { shard in
      try shard.beginRestoring(report: reports.add)
      work()
      pass(119)
      shard.turn { shard.expireSessions() }
      shard.whenLoaded(handle.description) { _ in }
      pass(2)
      shard.turn { shard.expireSessions() }
      work()
      #expect(shard.refusal(comingBackTo: handle) == nil)
    }
  }

  @Test("a session to which a client returned in time does not expire while the start is read")
  func inTimeForStart() async throws {
    let handle = try await session([add(1)])
    try await shard().run { shard in
      try shard.beginRestoring(report: reports.add)
      pass(119)
      shard.whenLoaded(handle.description) { _ in }
      pass(2)
      work()
      #expect(shard.refusal(comingBackTo: handle) == nil)
    }
  }

  @Test("a session with work continues later, however many other sessions could not be loaded")
  func manyFailures() async throws {
    let handle = try await session([("errands", #"{"type":"later","item":1,"seconds":90}"#)])
    try await shard().run { shard in
      try shard.beginRestoring(report: reports.add)
      work()
      journal.isUnreadable = true
      for number: UInt64 in 1...10_000 {
        let other = SessionHandle(high: 1, low: number)
        shard.whenLoaded(other.description) { _ in }
      }
      work()
      shard.continueSessions()
      work()
      #expect(reports.count == 10_001 && journal.loaded == [])
      journal.isUnreadable = false
      shard.continueSessions()
      work()
      #expect(journal.loaded == [])
      pass(60)
      shard.continueSessions()
      work()
      #expect(journal.loaded == [handle])
    }
  }

  @Test("a session with work is tried again also if a client has asked for it first")
  func askedFirst() async throws {
    let handle = try await session([("errands", #"{"type":"later","item":1,"seconds":90}"#)])
    try await shard().run { shard in
      try shard.beginRestoring(report: reports.add)
      work()
      journal.unreadable = handle
      shard.continueSessions()
      shard.whenLoaded(handle.description) { _ in }
      work()
      #expect(reports.count == 1 && journal.loaded == [])
      journal.unreadable = nil
      pass(60)
      shard.continueSessions()
      work()
      #expect(journal.loaded == [handle])
    }
  }

  @Test("a shared store can be used once the session that owns it could be loaded")
  func owners() async throws {
    try await live { shard, listener in
      let participant = listener.join(on: shard)
      try shard.send(add(1).1, participant, to: "board")
      shard.turn { participant.session.leave(participant, isolation: shard) }
    }
    // The owner has no work to continue.
    let before = try journal.load()
    let owners = before.start.owners
    #expect(before.continuing(after: nil, limit: 10).handles == [])
    try await shard().run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.beginRestoring(report: reports.add)
      journal.isUnreadable = true
      work()
      let participant = listener.join(on: shard)
      let refusal = shard.turn {
        participant.session.refusal(attachingTo: "board", on: shard)
      }
      #expect(refusal == "unreadable")
      journal.isUnreadable = false
      pass(60)
      shard.continueSessions()
      work()
      #expect(journal.loaded == owners && owners.count == 1)
      try shard.send(add(1).1, participant, to: "board")
      let state = try shard.turn {
        try participant.subscription("board", isolation: shard).stateText
      }
      #expect(state.contains(#""count":2"#))
    }
  }

  @Test("while many sessions could not be loaded, it is not read which others have work")
  func manyPostponed() {
    let loader = SessionLoader { _ in }
    for number: UInt64 in 1...10_000 {
      #expect(loader.mayRead(at: .zero))
      loader.postpone(SessionHandle(high: 1, low: number), from: .zero)
    }
    #expect(!loader.mayRead(at: .seconds(60)))
    #expect(loader.takeContinuing(at: .seconds(59)) == nil)
    #expect(loader.takeContinuing(at: .seconds(60)) == SessionHandle(high: 1, low: 1))
    #expect(loader.mayRead(at: .seconds(60)))
  }

  @Test("a session that cannot be loaded does not delay other sessions that continue")
  func others() async throws {
    let handles = [
      try await session([("errands", #"{"type":"later","item":1,"seconds":90}"#)]),
      try await session([("errands", #"{"type":"later","item":2,"seconds":90}"#)]),
    ]
    try await shard().run { shard in
      try shard.beginRestoring(report: reports.add)
      journal.unreadable = handles[0]
      shard.continueSessions()
      work()
      #expect(journal.loaded == [handles[1]])
      // The shard refuses its client without reading the journal again.
      let count = reports.count
      #expect(shard.refusal(comingBackTo: handles[0]) == "unreadable")
      work()
      #expect(reports.count == count)
    }
  }

  @Test("sessions that are not loaded do not count towards the limits")
  func limits() async throws {
    let handles = [try await session([add(1)]), try await session([add(2)])]
    var limits = SessionLimits()
    limits.sessions = 2
    try await shard(limits: limits).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.beginRestoring(report: reports.add)
      work()
      #expect(shard.directory.count == 0 && shard.accounts.all.bytes == 0)
      _ = try shard.join(listener)
      _ = try shard.join(listener)
      #expect(throws: SessionError.self) { try shard.join(listener) }
      // A session that exists is loaded at the limit too.
      let states = try attachWhenLoaded(to: handles[1], listener, on: shard, [("errands", nil)])
      #expect(states == [#"none 1 {"count":2,"done":[],"failed":[]}"#])
      #expect(journal.loaded == [handles[1]] && shard.directory.count == 3)
    }
  }

  @Test("a session's crashes count from its loading, and a session that is set aside is not loaded")
  func crashes() async throws {
    let handle = try await session([("errands", #"{"type":"later","item":1,"seconds":60}"#)])
    let counter = RecordingCrashes()
    try await shard(MemoryJournal(journal.commits, counter: counter)).run { shard in
      try shard.beginRestoring(report: reports.add)
      work()
      #expect(counter.take() == [])
      shard.continueSessions()
      work()
      #expect(counter.take().first == "performs")
      shard.closeStores()
      #expect(counter.take().contains("ended"))
    }
    let crashing = MemoryJournal(
      journal.commits, counter: RecordingCrashes(setsAside: true))
    try await shard(crashing).run { shard in
      try shard.beginRestoring(report: reports.add)
      shard.continueSessions()
      work()
      #expect(reports.count == 1)
      #expect(reports.all.first?.contains(#""errands" of kind "errands""#) == true)
      #expect(shard.refusal(comingBackTo: handle) == "set aside")
      #expect(crashing.loaded == [])
    }
  }

  @Test("after the stores are closed, the shard loads no session, and ends")
  func stop() async throws {
    let handle = try await session([write(1)])
    let shard = shard()
    try await shard.run { shard in
      try shard.beginRestoring(report: reports.add)
      work()
      shard.whenLoaded(handle.description) { _ in Issue.record("loaded") }
      shard.closeStores()
      let before = journal.commits.count
      work()
      #expect(shard.directory[handle] == nil && journal.commits.count == before)
    }
    await shard.drain()
  }
}

/// Ticks, outside of inputs, while its state demands it.
private struct Ticker: DurableMachine {
  enum Input: Codable, Sendable { case start, stop }
  struct State: Codable, Sendable { var isRunning = false }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> {
    switch input {
    case .start: .several(.action(.start), ticks)
    case .stop: .several(.action(.stop), .cancel("tick"))
    }
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Input> { .none }

  func resumption(in state: State) -> Effect<Input> { state.isRunning ? ticks : .none }

  func reduce(_ state: inout State, _ action: Input) {
    switch action {
    case .start: state.isRunning = true
    case .stop: state.isRunning = false
    }
  }

  private var ticks: Effect<Input> {
    .feed("tick") { context in try? await context.sleep(for: .seconds(100_000)) }
  }
}
