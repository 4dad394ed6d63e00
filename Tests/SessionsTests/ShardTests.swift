// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

@Suite("Shard", .timeLimit(.minutes(15)))
struct ShardTests {
  /// Records the ends of turns.
  private final class Observer: TurnObserver {
    var ends = 0
    var then: (() -> Void)?
    func turnEnded() {
      ends += 1
      then?()
    }
  }

  private struct Failure: Error {}

  @Test("the shard calls observers at the end of a turn, once for each time they were added")
  func turns() async {
    await Shard.make([]).run { shard in
      let observer = Observer()
      let value = shard.turn {
        shard.turnOutcome.add(observer)
        #expect(observer.ends == 0)
        return 7
      }
      #expect(value == 7)
      #expect(observer.ends == 1)
      shard.turn {}
      #expect(observer.ends == 1)
      #expect(throws: Failure.self) {
        try shard.turn {
          shard.turnOutcome.add(observer)
          throw Failure()
        }
      }
      #expect(observer.ends == 2)
    }
  }

  @Test("observers that are added while a redaction is sent are called in the same turn")
  func hidden() async {
    await Shard.make([]).run { shard in
      let (first, second) = (Observer(), Observer())
      var calls = 0
      shard.turnOutcome.whenRedacted = {
        calls += 1
        #expect(first.ends == 1)
        shard.turnOutcome.add(second)
      }
      shard.turn {
        shard.turnOutcome.add(first)
        shard.turnOutcome.hasRedaction = true
      }
      #expect(second.ends == 1)
      shard.turn {}
      #expect((calls, first.ends, second.ends) == (1, 1, 1))
      // It refers to the shard.
      shard.turnOutcome.whenRedacted = {}
    }
  }

  @Test("observers that are added while others are called are called in the same turn, in order")
  func lateObservers() async {
    await Shard.make([]).run { shard in
      let first = Observer()
      let second = Observer()
      first.then = { [unowned first] in
        guard first.ends == 1 else { return }
        shard.turnOutcome.add(second)
        shard.turnOutcome.add(first)
      }
      second.then = { [unowned first] in #expect(first.ends == 1) }
      shard.turn { shard.turnOutcome.add(first) }
      #expect(first.ends == 2)
      #expect(second.ends == 1)
    }
  }

  private final class Target: DeliveryTarget {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
    func deliver() { body() }
  }

  @Test("the shard performs deliveries after a turn, in order, and takes no event during them")
  func deliveries() async {
    await Shard.make([]).run { shard in
      let turnOutcome = shard.turnOutcome
      var delivered: [Int] = []
      func deliver(_ number: Int) {
        #expect(turnOutcome.stage == .output)
        delivered.append(number)
      }
      let observer = Observer()
      observer.then = { turnOutcome.add(delivery: Target { deliver(2) }) }
      shard.turn {
        #expect(turnOutcome.stage == .turn)
        turnOutcome.add(observer)
        turnOutcome.add(delivery: Target { deliver(1) })
        #expect(delivered.isEmpty)
      }
      #expect(delivered == [1, 2])
      #expect(!turnOutcome.isBusy)
      shard.turn {}
      turnOutcome.writing { deliver(3) }
      #expect(delivered == [1, 2, 3])
      #expect(!turnOutcome.isBusy)
    }
  }

  @Test("the last of two kinds with one name counts, and names are compared by their bytes")
  func kinds() async throws {
    let shard = Shard.make([
      StoreKind("a") { Counter(from: 1) }, StoreKind("a") { Counter(from: 2) },
      StoreKind("\u{E9}") { Counter(from: 3) },
    ])
    #expect(shard.kind("a") != nil)
    #expect(shard.kind("\u{E9}") != nil)
    #expect(shard.kind("e\u{301}") == nil)
    try await shard.run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let subscription = try session.attach(listener.id(on: shard), to: "a", isolation: shard)
      #expect(subscription.stateText == #"{"count":2}"#)
    }
  }

  @Test("late messages from the work of a closed store have no effect")
  func lateMessages() async throws {
    let clock = ManualClock()
    let shard = Shard.make(.counters, clock: clock)
    let messages = MessageTrap()
    try await shard.run { shard in
      let kind = try #require(shard.kind("counter"))
      let opening = StoreOpening(
        "counter", kind: "counter", configuration: .object([:]), of: shard.kinds)
      let (number, made) = try shard.open(
        kind, as: "counter", shard.configuration(opening, of: kind),
        from: StoreOrigin(revision: 4), environment: StoreEnvironment(clock: clock),
        session: Session(isolation: shard), viewer: .server, prepared: nil)
      #expect(made.store.revision == 4)
      let trapped = try Store(
        Counter(), number: number, host: messages, environment: .init(clock: clock))
      try trapped.send(.addLater(amount: 1))
      await eventually("the work sleeps") { clock.sleeperCount > 0 }
      clock.advance(to: clock.now.advanced(by: .seconds(1)))
      let message = await messages.next()
      shard.close(number)
      shard.close(number)
      shard.deliver(message)
      #expect(made.store.revision == 4)
    }
  }

  /// Keeps the first message of an effect.
  private actor MessageTrap: StoreHost {
    private var message: EffectMessage?
    private var waiter: CheckedContinuation<Void, Never>?

    func deliver(_ message: EffectMessage) {
      if self.message == nil { self.message = message }
      waiter?.resume()
      waiter = nil
    }

    func next() async -> EffectMessage {
      while true {
        if let message { return message }
        await withCheckedContinuation { waiter = $0 }
      }
    }
  }

  @Test("updates from running work end in a separate turn")
  func deliveredInTurns() async throws {
    let clock = ManualClock()
    try await Shard.make(.counters, clock: clock).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let observer = Observer()
      let subscription = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      subscription.subscribe(.patch)
      try subscription.send(#"{"type":"addLater","amount":1}"#)
      shard.turnOutcome.add(observer)
      await eventually("the work sleeps") { clock.sleeperCount > 0 }
      clock.advance(to: clock.now.advanced(by: .seconds(1)))
      await listener.hears(1, on: shard)
      #expect(observer.ends == 1)
    }
  }

  @Test("work begins at the end of its turn, in input order, unless it was cancelled before")
  func delayedWork() async throws {
    let begun = Lock<[String]>([])
    let shard = Shard.make([StoreKind("diligent") { Diligent(begun: begun) }])
    try await shard.run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let one = try session.attach(listener.id(on: shard), to: "diligent", isolation: shard)
      _ = try session.open("other", kind: "diligent", configuration: [:], isolation: shard)
      let other = try session.attach(listener.id(on: shard), to: "other", isolation: shard)
      try shard.turn {
        try one.send(#"{"type":"work","name":"1"}"#)
        try other.send(#"{"type":"work","name":"2"}"#)
        try one.send(#"{"type":"work","name":"3"}"#)
        try one.send(#"{"type":"work","name":"4"}"#)
        try other.send(#"{"type":"stop","name":"2"}"#)
        try one.send(#"{"type":"stop","name":"3"}"#)
        try other.send(#"{"type":"work","name":"5"}"#)
        #expect(begun.withLock { $0 } == [])
      }
      #expect(begun.withLock { $0 } == ["1", "4", "5"])
      // Outside of a turn, it begins immediately, because no end of a turn would follow.
      try other.send(#"{"type":"work","name":"6"}"#)
      #expect(begun.withLock { $0 } == ["1", "4", "5", "6"])
      session.end(isolation: shard)
      await shard.drain()
    }
  }

  /// A store whose work records its begin.
  private struct Diligent: StateMachine {
    enum Input: Codable, Sendable {
      case work(name: String)
      case stop(name: String)
    }
    struct State: Codable, Sendable { var number = 0 }
    let initialState = State()
    let begun: Lock<[String]>

    func effect(of input: Input, in state: State) -> Effect<Int> {
      switch input {
      case .work(let name):
        .run("work") { _ in }
          .cancellable(EffectID(name))
          .onBegin { [begun] in begun.withLock { $0.append(name) } }
      case .stop(let name): .cancel(EffectID(name))
      }
    }

    func reduce(_ state: inout State, _ action: Int) {}
  }

  @Test("draining waits for the work of closed stores, and not for other work")
  func drain() async throws {
    let stubborn = Stubborn()
    let shard = Shard.make(
      [StoreKind("stubborn") { stubborn }] + .counters, clock: ManualClock())
    try await shard.run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let subscription = try session.attach(
        listener.id(on: shard), to: "stubborn", isolation: shard)
      try subscription.send(#"{"type":"begin"}"#)
      let open = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      try open.send(#"{"type":"addLater","amount":1}"#)
      await shard.drain()
      try session.close("stubborn", isolation: shard)
      #expect(!stubborn.hasEnded.withLock { $0 })
      stubborn.end.finish()
      await shard.drain()
      #expect(stubborn.hasEnded.withLock { $0 })
      session.end(isolation: shard)
      await shard.drain()
    }
  }

  @Test("stopping the shard also ends the work of sessions that can be resumed")
  func stop() async throws {
    let stubborn = Stubborn()
    let shard = Shard.make(
      [StoreKind("stubborn") { stubborn }] + .counters, clock: ManualClock())
    try await shard.run { shard in
      let listener = Listener()
      let participant = listener.join(on: shard)
      _ = try participant.session.open(
        for: participant, named: nil, identity: nil, isolation: shard)
      try participant.subscription("stubborn", isolation: shard).send(#"{"type":"begin"}"#)
      try participant.subscription("counter", isolation: shard)
        .send(#"{"type":"addLater","amount":1}"#)
      participant.session.leave(participant, isolation: shard)
      stubborn.end.finish()
      await shard.stop()
      #expect(stubborn.hasEnded.withLock { $0 })
    }
  }

  /// A store whose work ignores cancellation, and ends when `end` finishes.
  private struct Stubborn: StateMachine {
    enum Input: Codable, Sendable { case begin }
    struct State: Codable, Sendable { var number = 0 }
    let initialState = State()
    let hasEnded = Lock(false)
    let end: AsyncStream<Never>.Continuation
    private let waiting: Task<Void, Never>

    init() {
      let (stream, end) = AsyncStream.makeStream(of: Never.self)
      self.end = end
      waiting = Task { for await _ in stream {} }
    }

    func effect(of input: Input, in state: State) -> Effect<Int> {
      .run("stubborn") { [hasEnded, waiting] _ in
        // An unstructured task does not receive the cancellation.
        await waiting.value
        hasEnded.withLock { $0 = true }
      }
    }

    func reduce(_ state: inout State, _ action: Int) {}
  }

  @Test("a kind whose first state cannot be encoded cannot be opened")
  func unusableState() async {
    await Shard.make([StoreKind("broken") { Broken() }]).run { shard in
      let session = Session(isolation: shard)
      #expect(
        session.refusal(attachingTo: "broken", on: shard) == "configuration /ratio")
    }
  }

  private struct Broken: StateMachine {
    enum Input: Codable, Sendable { case nothing }
    struct State: Codable, Sendable { var ratio = Double.nan }
    let initialState = State()
    func effect(of input: Input, in state: State) -> Effect<Int> { .none }
    func reduce(_ state: inout State, _ action: Int) {}
  }
}
