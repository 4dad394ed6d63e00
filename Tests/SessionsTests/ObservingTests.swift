// SPDX-License-Identifier: Apache-2.0

import Dispatch
import StateMachines
import StatewireJSON
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

@Suite("Hooks, observers, sharing, lifecycle, traces, faults and events", .timeLimit(.minutes(15)))
struct ObservingTests {

  /// Records the inputs of all stores except one.
  private struct InputObserver: StoreObserver {
    let seen: Record<String>
    func hook<Machine>(for machine: Machine, store: ObservedStore) -> Hook<Machine>? {
      if store.name == "private" { return nil }
      return Hook(
        stages: [.input],
        receiveRequest: { [seen] _, input in
          seen.add("\(Machine.self) \(store.name): \(input.map(caseName(of:)) ?? "")")
        })
    }
  }

  // MARK: Hooks and observers

  @Test("the hooks of a kind see each store of the kind, and observers see the stores of all kinds")
  func hooks() async throws {
    let ofKind = Record<String>()
    let ofAll = Record<String>()
    let hook = Hook<Counter>(
      stages: [.action],
      receiveOutput: { _, output in
        if case .action(let amount, _) = output { ofKind.add("+\(amount)") }
      })
    let shard = Shard(
      executor: QueueExecutor(),
      kinds: [
        StoreKind("watched", hooks: [hook]) { Counter() }, StoreKind("other") { Counter() },
        StoreKind(
          "configured", configuration: CounterConfiguration.self, hooks: [hook]
        ) { Counter(from: $0.start ?? 0) },
      ], observers: [InputObserver(seen: ofAll)])
    try await shard.run { shard in
      let session = Session(isolation: shard)
      for (name, kind) in [
        ("one", "watched"), ("two", "watched"), ("three", "other"), ("four", "configured"),
        ("private", "watched"),
      ] {
        _ = try session.open(name, kind: kind, configuration: [:], isolation: shard)
        let subscription = try session.attach(Listener().id(on: shard), to: name, isolation: shard)
        try subscription.send(#"{"type":"add","amount":\#(name.count)}"#)
        session.detach([subscription])
      }
    }
    try await ofKind.reaches(4)
    try await ofAll.reaches(4)
    #expect(ofKind.all.sorted() == ["+3", "+3", "+4", "+7"])
    #expect(
      ofAll.all.sorted() == [
        "Counter four: add", "Counter one: add", "Counter three: add", "Counter two: add",
      ])
  }

  // MARK: Sharing

  @Test("stores of one kind in one session share the value that the first of them makes")
  func sharing() async throws {
    let made = Record<String>()
    let kinds = ["a", "b"].map { kind in
      StoreKind(
        kind, configuration: CounterConfiguration.self,
        sharing: {
          made.add(kind)
          return Record<String>()
        }
      ) { configuration, shared in
        shared.add("\(kind)")
        return Counter(from: shared.all.count)
      }
    }
    try await Shard.make(kinds).run { shard in
      let one = Session(isolation: shard)
      let two = Session(isolation: shard)
      #expect(made.all == [])
      for (session, kind, name, expected) in [
        (one, "a", "1", 1), (one, "a", "2", 2), (two, "a", "1", 1), (one, "b", "3", 1),
        (one, "a", "4", 3),
      ] {
        _ = try session.open(name, kind: kind, configuration: [:], isolation: shard)
        let subscription = try session.attach(Listener().id(on: shard), to: name, isolation: shard)
        #expect(subscription.stateText == "{\"count\":\(expected)}", "\(kind) \(name)")
      }
      #expect(made.all == ["a", "a", "b"])
    }
  }

  @Test("an unusable configuration is refused with its path, and no store is opened")
  func configuration() async throws {
    let kind = StoreKind("picky", configuration: CounterConfiguration.self) {
      configuration throws(ConfigurationError) in
      guard let start = configuration.start, start > 0 else {
        throw ConfigurationError("start is at least 1", at: ["list", "0", "start"])
      }
      return Counter(from: start)
    }
    await Shard.make([kind]).run { shard in
      let session = Session(isolation: shard)
      #expect(
        session.refusal(opening: "x", as: "picky", ["start": 0], on: shard)
          == "configuration /list/0/start")
      #expect(
        session.refusal(opening: "x", as: "picky", ["start": "a"], on: shard)
          == "configuration /start")
      #expect(session.refusal(closing: "x", on: shard) == "unknown store x")
      #expect(session.refusal(attachingTo: "picky", on: shard) == "configuration /list/0/start")
      #expect(session.refusal(opening: "x", as: "picky", ["start": 1], on: shard) == nil)
    }
  }

  // MARK: Lifecycle and events

  /// Rests while no frontend is active, and rings.
  private struct Bell: StateMachine {
    enum Input: Codable, Sendable {
      case ring(times: Int)
      case ringLater, rest, wake
    }
    enum Action: Sendable {
      case rang
      case set(resting: Bool)
    }
    struct State: Codable, Sendable {
      var rings = 0
      var isResting = false
    }
    struct Event: Codable, Sendable { var rang: Int }

    let initialState = State()

    func effect(of input: Input, in state: State) -> Effect<Action> {
      switch input {
      case .ring(let times): .several((0..<times).map { _ in .action(.rang) })
      case .ringLater: .after(.seconds(1), .action(.rang))
      case .rest: .action(.set(resting: true))
      case .wake: .action(.set(resting: false))
      }
    }

    func reduce(_ state: inout State, _ action: Action) {
      switch action {
      case .rang: state.rings += 1
      case .set(let resting): state.isResting = resting
      }
    }

    func event(of action: Action, in state: State) -> Event? {
      if case .rang = action { Event(rang: state.rings) } else { nil }
    }

    func input(for phase: LifecyclePhase) -> Input? {
      switch phase {
      case .active: .wake
      case .inactive: .rest
      }
    }
  }

  private static let bells = [StoreKind("bell") { Bell() }, StoreKind("counter") { Counter() }]

  private static func frame(_ base: Int, _ path: String, _ value: String) -> String {
    "\"store\":\"bell\",\"base\":\(base),\"revision\":\(base + 1),\"patch\":"
      + "[{\"op\":\"replace\",\"path\":\"/\(path)\",\"value\":\(value)}]"
  }

  @Test("each change of the lifecycle phase reaches the session's stores once, also new stores")
  func lifecycle() async throws {
    try await Shard.make(Self.bells).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let bell = try session.attach(listener.id(on: shard), to: "bell", isolation: shard)
      let counter = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      bell.subscribe(.patch)
      // A new session is active.
      session.take(.active)
      #expect(listener.take() == [])
      session.take(.inactive)
      session.take(.inactive)
      #expect(listener.take() == [": " + Self.frame(0, "isResting", "true")])
      _ = try session.open("late", kind: "bell", configuration: [:], isolation: shard)
      let late = try session.attach(listener.id(on: shard), to: "late", isolation: shard)
      #expect(late.stateText == #"{"rings":0,"isResting":true}"#)
      #expect(counter.revision == 0)
      try session.close("late", isolation: shard)
      session.take(.active)
      #expect(listener.take() == [": " + Self.frame(1, "isResting", "false")])
    }
  }

  @Test("each subscriber receives the events of an input once, after its updates")
  func events() async throws {
    let clock = ManualClock()
    try await Shard.make(Self.bells, clock: clock).run { shard in
      let session = Session(isolation: shard)
      let (one, two, none) = (Listener(), Listener(), Listener())
      let first = try session.attach(one.id(on: shard), to: "bell", isolation: shard)
      let second = try session.attach(two.id(on: shard), to: "bell", isolation: shard)
      _ = try session.attach(none.id(on: shard), to: "bell", isolation: shard)
      first.subscribe(.patch)
      second.subscribe(.state)
      try first.send(#"{"type":"ring","times":2}"#, request: "7")
      #expect(
        one.take() == [
          ": " + Self.frame(0, "rings", "1"), "7: " + Self.frame(1, "rings", "2"),
          #"bell! {"rang":1}"#, #"bell! {"rang":2}"#,
        ])
      #expect(
        two.take().map { $0.hasPrefix("bell! ") } == [false, false, true, true])
      #expect(none.take() == [])
      // Events of running effects.
      try first.send(#"{"type":"ringLater"}"#)
      await eventually("the work sleeps") { clock.sleeperCount > 0 }
      clock.advance(to: clock.now.advanced(by: .seconds(1)))
      await one.hears(2, on: shard)
      #expect(one.take() == ["7: " + Self.frame(2, "rings", "3"), #"bell! {"rang":3}"#])
      // A client that has unsubscribed or closed the store receives no event.
      first.unsubscribe()
      try second.send(#"{"type":"ring","times":1}"#)
      #expect(one.take() == [])
    }
  }

  // MARK: Traces

  @Test("a trace sends all stores of a session to one client, numbered from 1")
  func trace() async throws {
    try await Shard.make(Self.bells).run { shard in
      let session = Session(isolation: shard)
      let other = Session(isolation: shard)
      let (one, two) = (Listener(), Listener())
      let bell = try session.attach(one.id(on: shard), to: "bell", isolation: shard)
      let others = try other.attach(two.id(on: shard), to: "bell", isolation: shard)
      session.trace(one.id(on: shard))
      try bell.send(#"{"type":"rest"}"#)
      try others.send(#"{"type":"rest"}"#)
      let counter = try session.attach(one.id(on: shard), to: "counter", isolation: shard)
      try counter.send(#"{"type":"add","amount":1}"#)
      #expect(one.traced.map(\.number) == Array(1...12))
      #expect(
        one.traced.map(\.store)
          == Array(repeating: "bell", count: 6) + Array(repeating: "counter", count: 6))
      #expect(one.traced.compactMap(\.record.input) == ["rest", "add"])
      #expect(two.traced.isEmpty)
      session.trace(nil)
      try bell.send(#"{"type":"wake"}"#)
      #expect(one.traced.count == 12)
      // The last client that requested the trace receives it.
      session.trace(one.id(on: shard))
      session.trace(two.id(on: shard))
      try bell.send(#"{"type":"rest"}"#)
      #expect(one.traced.count == 12)
      #expect(two.traced.first?.number == 1)
    }
  }

  // MARK: Under test

  private static func shardUnderTest(_ kinds: [StoreKind]) -> Shard {
    let queue = DispatchQueue(label: "shard under test")
    return Shard(
      testing: IdleTracker(
        checkThread: { dispatchPrecondition(condition: .onQueue(queue)) },
        execute: { queue.async(execute: $0) }), kinds: kinds)
  }

  @Test("under test, each store has its own fault injection; otherwise there is none")
  func faults() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let faults = try session.faults(of: "counter", isolation: shard)
      #expect(faults == nil)
    }
    try await Self.shardUnderTest(.counters).run { shard in
      let session = Session(isolation: shard)
      // The store named after its kind opens on first use.
      let faults = try #require(try session.faults(of: "counter", isolation: shard))
      #expect(try session.faults(of: "counter", isolation: shard) === faults)
      let other = try #require(try session.faults(of: "from", isolation: shard))
      #expect(other !== faults)
      #expect(throws: SessionError.self) {
        _ = try session.faults(of: "unknown", isolation: shard)
      }
      try session.close("counter", isolation: shard)
      #expect(throws: SessionError.self) {
        _ = try session.faults(of: "counter", isolation: shard)
      }
    }
  }

  @Test("a session's calendar starts when the session begins, whatever the clock shows")
  func calendar() async throws {
    await Self.shardUnderTest(.counters).run { shard in
      let first = shard.sessionEnvironment().clock
      #expect(first.sinceEpoch == TestMode.start)
      #expect(first.uptime == .zero)
      await withCheckedContinuation { continuation in
        shard.testing?.advance(by: .seconds(90)) { continuation.resume() }
      }
      #expect(first.sinceEpoch == TestMode.start + .seconds(90))
      #expect(shard.sessionEnvironment().clock.sinceEpoch == TestMode.start)
    }
  }
}
