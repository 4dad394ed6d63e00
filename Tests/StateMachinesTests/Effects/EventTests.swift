// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Events, lifecycle and initial effects")
struct EventTests {
  /// A machine that counts its rings and publishes an event for each.
  struct Bell: StateMachine {
    enum Input: Codable, Sendable {
      case ring
      case ringLater
      case rest
      case weigh
    }
    enum Action: Sendable {
      case rang
      case becameIdle
      case weighed
    }
    enum Event: Codable, Sendable {
      case rang(times: Int)
      case weighed(amount: Double)
    }
    struct State: Codable, Sendable {
      var rings = 0
      var isResting = false
    }

    var initialState = State()
    var beginning = Effect<Action>.none
    var initialEffect: Effect<Action> { beginning }

    func effect(of input: Input, in state: State) -> Effect<Action> {
      switch input {
      case .ring: .action(.rang)
      case .ringLater:
        .run("later") { context in
          try? await context.sleep(for: .seconds(1))
          await context.send(.rang)
        }
      case .rest: .action(.becameIdle)
      case .weigh: .action(.weighed)
      }
    }

    func reduce(_ state: inout State, _ action: Action) {
      switch action {
      case .rang: state.rings += 1
      case .becameIdle: state.isResting = true
      case .weighed: break
      }
    }

    func event(of action: Action, in state: State) -> Event? {
      switch action {
      case .rang: .rang(times: state.rings)
      case .becameIdle: nil
      // JSON cannot represent this number.
      case .weighed: .weighed(amount: .nan)
      }
    }

    func input(for phase: LifecyclePhase) -> Input? { phase == .inactive ? .rest : nil }
  }

  /// Returns the record of a listener to states and events.
  private func listen(_ bench: Bench<Bell>) async -> Record<String> {
    let heard = Record<String>()
    await bench.do { _, store in
      _ = store.listen { heard.add("state \($0.revision)") }
      _ = store.listenToEvents { heard.add(String(decoding: $0, as: UTF8.self)) }
    }
    heard.removeAll()
    return heard
  }

  @Test("a listener receives an event once, after the state that it belongs to")
  func once() async throws {
    let bench = try await Bench(Bell())
    let heard = await listen(bench)
    try await bench.send(.ring)
    try await bench.send(.rest)
    try await bench.send(.ringLater, noting: "later")
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 1)
    #expect(
      heard.all == [
        "state 1", #"{"type":"rang","times":1}"#, "state 2", "state 3",
        #"{"type":"rang","times":2}"#,
      ])
    // A new listener does not receive earlier events.
    let late = await listen(bench)
    #expect(late.all == [])
  }

  @Test("an event that cannot be encoded is dropped, and the store continues")
  func notEncodable() async throws {
    let bench = try await Bench(Bell())
    let heard = await listen(bench)
    try await bench.send(.weigh)
    try await bench.send(.ring)
    #expect(heard.all == ["state 1", #"{"type":"rang","times":1}"#])
  }

  @Test("a listener may send, stop listening and close the store while it receives an event")
  func fromInside() async throws {
    let bench = try await Bench(Bell())
    let heard = Record<String>()
    try await bench.do { _, store in
      var second: ListenerID?
      _ = store.listenToEvents { [unowned store] _ in
        heard.add("first, \(store.state.rings)")
        if store.state.rings == 1 {
          let result = try? store.send(.ring)
          #expect(result == nil)
          if let second { store.stopListening(second) }
        } else {
          store.close()
        }
      }
      second = store.listenToEvents { _ in heard.add("second") }
      try store.send(.ring)
      #expect(store.isClosed)
    }
    #expect(heard.all == ["first, 1", "first, 2"])
  }

  @Test("a machine without events publishes none")
  func never() async throws {
    let bench = try await Bench(ControlledMachine())
    await bench.do { _, store in _ = store.listenToEvents { _ in Issue.record("unexpected event") }
    }
    try await bench.send("a")
    #expect(await bench.do { $1.state.notes } == ["a"])
  }

  @Test("a closed store publishes no event")
  func closed() async throws {
    let bench = try await Bench(Bell())
    let heard = Record<String>()
    try await bench.do { _, store in
      _ = store.listen { [unowned store] in if $0.revision == 1 { store.close() } }
      _ = store.listenToEvents { _ in heard.add("event") }
      try store.send(.ring)
    }
    #expect(heard.all == [])
  }

  // MARK: Lifecycle

  @Test("a machine may map a change of the lifecycle phase to an input")
  func lifecycle() async throws {
    let bench = try await Bench(Bell())
    await bench.do { _, store in store.take(.active) }
    #expect(await bench.do { $1.revision } == 0)
    await bench.do { _, store in store.take(.inactive) }
    #expect(await bench.do { $1.state.isResting } == true)
    await bench.end()
    await bench.do { _, store in store.take(.inactive) }
    let other = try await Bench(ControlledMachine())
    await other.do { _, store in store.take(.inactive) }
    #expect(await other.do { $1.revision } == 0)
  }

  // MARK: Initial effects

  @Test("an immediate initial effect is folded before the first listener is added")
  func initialImmediate() async throws {
    let bench = try await Bench(Bell(beginning: .several(.action(.rang), .action(.rang))))
    #expect(bench.published == [#"2 {"rings":2,"isResting":false}"#])
  }

  @Test(
    "initial work and feeds begin with the store and end with it",
    arguments: ["work", "feed", "after"])
  func initialWork(what: String) async throws {
    let effect: Effect<Bell.Action> =
      switch what {
      case "work":
        .run("work") { context in
          do { try await context.sleep(for: .seconds(1)) } catch { return }
          await context.send(.rang)
        }
      case "feed": .ticks("feed", every: .seconds(1)) { .rang }
      default: .after(.seconds(1), .action(.rang))
      }
    let bench = try await Bench(Bell(beginning: effect))
    let heard = await listen(bench)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 1)
    await eventually("a state and an event") { heard.count == 2 }
    #expect(heard.all == ["state 1", #"{"type":"rang","times":1}"#])
    await bench.end()
    #expect(bench.clock.sleeperCount == 0)
  }

  @Test("hooks see the initial effect as an input without a name that ends once")
  func initialObserved() async throws {
    // Regression: an initial effect that cancelled its own work ended twice.
    let seen = Record<String>()
    let hook = Hook<Bell>(
      stages: [.input],
      receiveSubscription: { seen.add("\($0.number) began") },
      receiveRequest: { seen.add("\($0.number) \($1 == nil ? "nil" : "input")") },
      receiveCompletion: { operation, _ in seen.add("\(operation.number) completed") },
      receiveCancel: { seen.add("\($0.number) cancelled") })
    let work = Effect<Bell.Action>.run("work") { try? await $0.sleep(for: .seconds(1)) }
    let bench = try await Bench(
      Bell(beginning: .several(work.cancellable("x"), .cancel("x"))), hooks: [hook])
    try await bench.send(.rest)
    await bench.end()
    await eventually("six calls of the hook") { seen.count == 6 }
    #expect(
      seen.all == [
        "1 began", "1 nil", "1 completed", "2 began", "2 input", "2 completed",
      ])
  }
}
