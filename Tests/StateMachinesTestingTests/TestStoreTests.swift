// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import Testing

@Suite("Test store")
struct TestStoreTests {
  typealias Store = TestStore<Stopwatch>

  // MARK: Correct expectations pass

  @Test("a test passes if it names every step")
  func passes() async throws {
    let store = Store(Stopwatch())
    try await store.send(.startTapped) { $0.isRunning = true }
    try await store.advance(by: .seconds(1))
    try await store.receive { $0.seconds = 1 }
    try await store.advance(by: .milliseconds(2_500))
    try await store.receive(.ticked) { $0.seconds = 2 }
    try await store.receive { $0.seconds = 3 }
    try await store.send(.stopTapped) { $0.isRunning = false }
    try await store.send(.stopTapped)
    try await store.finish()
    #expect(await store.state == Stopwatch.State(seconds: 3))
  }

  @Test("an expected state may be given as a whole")
  func wholeState() async throws {
    let store = Store(Stopwatch())
    try await store.send(.startTapped) { $0 = .init(isRunning: true) }
    await store.cancelAll()
    try await store.finish()
  }

  @Test("`advance` wakes the timers of one or several effects in order")
  func timers() async throws {
    // Regression: with two sleeping timers, the store seemed idle although one had just been woken.
    for _ in 0..<50 {
      let store = Store(Stopwatch(), patience: .zero)
      try await store.send(.lapsTapped)
      try await store.advance(by: .seconds(10))
      for name in ["a1", "b1", "a2", "b2", "a3", "b3"] {
        try await store.receive(.lapped(name)) { $0.laps.append(name) }
      }
      try await store.finish()
    }
  }

  @Test("the store is idle while work waits for something other than the clock")
  func otherWaits() async throws {
    // Regression: every step then took as long as the timeout of the store.
    let store = Store(Stopwatch(), patience: .seconds(600))
    try await store.send(.watchTapped)
    try await store.advance(by: .seconds(1))
    try await store.send(.startTapped) { $0.isRunning = true }
    try await store.advance(by: .seconds(1))
    try await store.receive { $0.seconds = 1 }
    try await store.send(.stopTapped) { $0.isRunning = false }
    // The feed ends with its store.
    try await store.finish()
  }

  @Test("`receive` waits for actions whose cause is outside the store")
  func outside() async throws {
    let (stream, source) = AsyncStream.makeStream(of: String.self)
    let store = Store(Stopwatch(news: stream))
    try await store.send(.watchTapped)
    source.yield("x")
    try await store.receive { $0.laps = ["x"] }
    source.yield("y")
    source.yield("z")
    source.finish()
    try await store.receive { $0.laps = ["x", "y"] }
    try await store.receive { $0.laps = ["x", "y", "z"] }
    try await store.finish()
  }

  @Test("cancelled work can finish its clean-up")
  func cleaningUp() async throws {
    let store = Store(Stopwatch())
    try await store.send(.startTapped) { $0.isRunning = true }
    try await store.send(.watchTapped)
    await store.cancelAll()
    try await store.finish()
    #expect(await store.state.isRunning)
  }

  // MARK: Wrong expectations fail with a message

  @Test("a test fails if the state after an input differs")
  func unexpectedState() async throws {
    await check(
      "after the input startTapped the state differs from the expected state:\n"
        + "  isRunning: expected false, got true"
    ) { try await $0.send(.startTapped) }
    await check(
      "after the input stopTapped the state differs from the expected state:\n"
        + "  seconds: expected 7, got 0"
    ) { try await $0.send(.stopTapped) { $0.seconds = 7 } }
  }

  @Test("a test fails if the state after an action differs")
  func unexpectedStateAfterAction() async throws {
    await check(
      "after the action ticked the state differs from the expected state:\n"
        + "  seconds: expected 0, got 1"
    ) {
      try await $0.start()
      try await $0.receive()
    }
  }

  @Test("a test fails if only hidden state differs")
  func hiddenState() async throws {
    let store = TestStore(Hider())
    try await store.send(.init()) { $0.hidden = 1 }
    let failure = await #expect(throws: TestFailure.self) { try await store.send(.init()) }
    #expect(
      failure?.message
        == "after the input Input() the state differs from the expected state:\n"
        + "  hidden: expected 1, got 2")
  }

  @Test("a test fails if an action is not received")
  func unreceived() async throws {
    await check("the action ticked was not received before sending stopTapped") {
      try await $0.start()
      try await $0.send(.stopTapped) { $0.isRunning = false }
    }
    await check("the action ticked was not received before the end") {
      try await $0.start()
      try await $0.finish()
    }
    // The same if the work that sends the action has not begun at the next step.
    await check("the action lapped(\"now\") was not received before sending stopTapped") {
      try await $0.send(.nowTapped)
      try await $0.send(.stopTapped)
    }
  }

  @Test("a test fails if a different action comes")
  func otherAction() async throws {
    await check("expected the action lapped(\"a1\"), got the action ticked") {
      try await $0.start()
      try await $0.receive(.lapped("a1"))
    }
  }

  @Test("a test fails if no action comes: immediately if nothing runs, else after the timeout")
  func noAction() async throws {
    await check("expected an action, got nothing", patience: .seconds(600)) {
      try await $0.receive()
    }
    await check("expected an action, got nothing") {
      try await $0.send(.startTapped) { $0.isRunning = true }
      try await $0.receive()
    }
  }

  @Test("a test fails if work still runs at the end, and the message names the work")
  func stillRunning() async throws {
    await check("still running at the end: ticks, laps") {
      try await $0.send(.startTapped) { $0.isRunning = true }
      try await $0.send(.lapsTapped)
      try await $0.send(.watchTapped)
      try await $0.finish()
    }
  }

  @Test("a test fails if work never becomes idle")
  func endless() async throws {
    await check("never idle: spin") {
      try await $0.send(.spinTapped)
      try await $0.advance(by: .seconds(1))
    }
  }

  // MARK: Not exhaustive

  @Test("a store that is not exhaustive checks only the given expectations")
  func notExhaustive() async throws {
    // Regression: it checked nothing.
    let store = Store(Stopwatch(), exhaustive: false, patience: .zero)
    try await store.send(.startTapped)
    try await store.advance(by: .seconds(2))
    // The ticks that are not received are folded meanwhile.
    try await store.send(.lapsTapped) { $0.seconds = 2 }
    try await store.advance(by: .seconds(3))
    try await store.receive(.lapped("a2")) { $0.isRunning = true }
    #expect(await store.state.laps.contains("a1"))
    let failure = await #expect(throws: TestFailure.self) {
      try await store.send(.stopTapped) { $0.isRunning = true }
    }
    #expect(
      failure?.message
        == "after the input stopTapped the state differs from the expected state:\n"
        + "  isRunning: expected true, got false")
    await #expect(throws: TestFailure.self) {
      try await store.receive(.lapped("unknown"))
    }
    try await store.send(.startTapped)
    try await store.finish()
  }

  /// Checks the failure of the last of some steps.
  private func check(
    _ expected: String, patience: Duration = .zero, at location: SourceLocation = #_sourceLocation,
    _ steps: @Sendable (Store) async throws -> Void
  ) async {
    let store = Store(Stopwatch(), patience: patience)
    let failure = await #expect(throws: TestFailure.self, sourceLocation: location) {
      try await steps(store)
    }
    #expect(failure?.message == expected, sourceLocation: location)
    await store.cancelAll()
  }
}

extension TestStore<Stopwatch> {
  /// Starts the stopwatch and waits for one tick, which is not received.
  fileprivate func start() async throws {
    try await send(.startTapped) { $0.isRunning = true }
    try await advance(by: .seconds(1))
  }
}

// MARK: - Machines

/// A machine with every kind of work.
struct Stopwatch: StateMachine {
  enum Input: Codable, Sendable {
    case startTapped, stopTapped, lapsTapped, watchTapped, nowTapped, spinTapped
  }

  enum Action: Equatable, Sendable {
    case started, stopped, ticked
    case lapped(String)
  }

  struct State: Codable, Equatable, Sendable {
    var isRunning = false
    var seconds = 0
    var laps: [String] = []
  }

  let initialState = State()
  var news = AsyncStream<String> { _ in }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .startTapped:
      .several(
        .action(.started),
        .run("ticks") { context in
          do {
            while true {
              try await context.sleep(for: .seconds(1))
              await context.send(.ticked)
            }
          } catch {}
        }.latest("ticks"))
    case .stopTapped:
      .several(.action(.stopped), .cancel("ticks"))
    case .lapsTapped:
      // Two timers in one effect, at 1, 3 and 5 seconds and at 2, 4 and 6 seconds.
      .run("laps") { context in
        await withTaskGroup { group in
          for (name, start) in [("b", 2), ("a", 1)] {
            group.addTask {
              for lap in 1...3 {
                try? await context.sleep(for: .seconds(lap == 1 ? start : 2))
                if Task.isCancelled { return }
                await context.send(.lapped("\(name)\(lap)"))
              }
            }
          }
        }
      }
    case .watchTapped:
      .feed("news") { [news] context in
        for await word in news { await context.send(.lapped(word)) }
      }
    case .nowTapped:
      .run("now") { await $0.send(.lapped("now")) }
    case .spinTapped:
      .run("spin") { _ in while !Task.isCancelled { await Task.yield() } }
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .started: state.isRunning = true
    case .stopped: state.isRunning = false
    case .ticked: state.seconds += 1
    case .lapped(let name): state.laps.append(name)
    }
  }
}

/// A machine that changes only hidden state.
private struct Hider: StateMachine {
  struct Input: Decodable, Sendable {}
  struct State: Equatable, Sendable { var hidden = 0 }
  struct ViewState: Codable, Sendable {}
  let initialState = State()
  func effect(of input: Input, in state: State) -> Effect<Int> { .action(1) }
  func reduce(_ state: inout State, _ action: Int) { state.hidden += action }
  func view(of state: State) -> ViewState { ViewState() }
}
