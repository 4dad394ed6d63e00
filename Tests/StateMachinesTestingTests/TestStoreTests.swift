// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import Testing

@Suite("Test store")
struct TestStoreTests {
  typealias Store = TestStore<Stopwatch>

  // MARK: What is right passes

  @Test("passes where every step is named")
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

  @Test("an expected state may be said as the whole of it")
  func wholeState() async throws {
    let store = Store(Stopwatch())
    try await store.send(.startTapped) { $0 = .init(isRunning: true) }
    await store.cancelAll()
    try await store.finish()
  }

  @Test("wakes the timers of one effect, and of several, in order")
  func timers() async throws {
    // Found by this test: with two timers asleep, one that had just been woken was taken to rest.
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

  @Test("rests where work waits for something that is no clock")
  func otherWaits() async throws {
    // Found by this test: every step then took as long as the store was patient.
    let store = Store(Stopwatch(), patience: .seconds(600))
    try await store.send(.watchTapped)
    try await store.advance(by: .seconds(1))
    try await store.send(.startTapped) { $0.isRunning = true }
    try await store.advance(by: .seconds(1))
    try await store.receive { $0.seconds = 1 }
    try await store.send(.stopTapped) { $0.isRunning = false }
    // A feed ends with its store.
    try await store.finish()
  }

  @Test("waits for what comes from outside")
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

  @Test("lets cancelled work clean up")
  func cleaningUp() async throws {
    let store = Store(Stopwatch())
    try await store.send(.startTapped) { $0.isRunning = true }
    try await store.send(.watchTapped)
    await store.cancelAll()
    try await store.finish()
    #expect(await store.state.isRunning)
  }

  // MARK: What is wrong fails, and says how

  @Test("fails after an input whose state is another one")
  func unexpectedState() async throws {
    await check(
      "after the input startTapped the state differs from the expected state by "
        + #"[{"op":"replace","path":"/isRunning","value":true}]"#
    ) { try await $0.send(.startTapped) }
    await check(
      "after the input stopTapped the state differs from the expected state by "
        + #"[{"op":"replace","path":"/seconds","value":0}]"#
    ) { try await $0.send(.stopTapped) { $0.seconds = 7 } }
  }

  @Test("fails after an action whose state is another one")
  func unexpectedStateAfterAction() async throws {
    await check(
      "after the action ticked the state differs from the expected state by "
        + #"[{"op":"replace","path":"/seconds","value":1}]"#
    ) {
      try await $0.start()
      try await $0.receive()
    }
  }

  @Test("fails where only what frontends do not see is another one")
  func hiddenState() async throws {
    let store = TestStore(Hider())
    try await store.send(.init()) { $0.hidden = 1 }
    let failure = await #expect(throws: TestFailure.self) { try await store.send(.init()) }
    #expect(
      failure?.description
        == "after the input Input() the state differs from the expected state by "
        + "State(hidden: 2) instead of State(hidden: 1)")
  }

  @Test("fails where an action was not received")
  func unreceived() async throws {
    await check("the action ticked was not received before sending stopTapped") {
      try await $0.start()
      try await $0.send(.stopTapped) { $0.isRunning = false }
    }
    await check("the action ticked was not received before the end") {
      try await $0.start()
      try await $0.finish()
    }
    // Also where the work that sends it has not begun when the next step comes.
    await check("the action lapped(\"now\") was not received before sending stopTapped") {
      try await $0.send(.nowTapped)
      try await $0.send(.stopTapped)
    }
  }

  @Test("fails where another action comes")
  func otherAction() async throws {
    await check("the action ticked is not the expected one") {
      try await $0.start()
      try await $0.receive(.lapped("a1"))
    }
  }

  @Test("fails where no action comes: at once if nothing runs, or after its patience")
  func noAction() async throws {
    await check("expected an action, but none came", patience: .seconds(600)) {
      try await $0.receive()
    }
    await check("expected an action, but none came") {
      try await $0.send(.startTapped) { $0.isRunning = true }
      try await $0.receive()
    }
  }

  @Test("fails where work still runs at the end, and names it")
  func stillRunning() async throws {
    await check("still running at the end: ticks, laps") {
      try await $0.send(.startTapped) { $0.isRunning = true }
      try await $0.send(.lapsTapped)
      try await $0.send(.watchTapped)
      try await $0.finish()
    }
  }

  @Test("fails where work never comes to rest")
  func endless() async throws {
    await check("never idle: spin") {
      try await $0.send(.spinTapped)
      try await $0.advance(by: .seconds(1))
    }
  }

  // MARK: Not exhaustive

  @Test("that is not exhaustive checks what it is asked about, and nothing else")
  func notExhaustive() async throws {
    // Found by this test: it checked nothing at all.
    let store = Store(Stopwatch(), exhaustive: false, patience: .zero)
    try await store.send(.startTapped)
    try await store.advance(by: .seconds(2))
    // Unseen ticks are folded on the way.
    try await store.send(.lapsTapped) { $0.seconds = 2 }
    try await store.advance(by: .seconds(3))
    try await store.receive(.lapped("a2")) { $0.isRunning = true }
    #expect(await store.state.laps.contains("a1"))
    let failure = await #expect(throws: TestFailure.self) {
      try await store.send(.stopTapped) { $0.isRunning = true }
    }
    #expect(
      failure?.description
        == "after the input stopTapped the state differs from the expected state "
        + #"by [{"op":"replace","path":"/isRunning","value":false}]"#)
    await #expect(throws: TestFailure.self) {
      try await store.receive(.lapped("nobody"))
    }
    try await store.send(.startTapped)
    try await store.finish()
  }

  /// What the last of some steps says.
  private func check(
    _ expected: String, patience: Duration = .zero, at location: SourceLocation = #_sourceLocation,
    _ steps: @Sendable (Store) async throws -> Void
  ) async {
    let store = Store(Stopwatch(), patience: patience)
    let failure = await #expect(throws: TestFailure.self, sourceLocation: location) {
      try await steps(store)
    }
    #expect(failure?.description == expected, sourceLocation: location)
    await store.cancelAll()
  }
}

extension TestStore<Stopwatch> {
  /// Starts, and waits for one tick that has not been received.
  fileprivate func start() async throws {
    try await send(.startTapped) { $0.isRunning = true }
    try await advance(by: .seconds(1))
  }
}

// MARK: - Machines

/// Has work of every kind.
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
      // Two timers in one effect, at 1, 3, 5 and 2, 4, 6 seconds.
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

/// Changes what nobody sees.
private struct Hider: StateMachine {
  struct Input: Decodable, Sendable {}
  struct State: Equatable, Sendable { var hidden = 0 }
  struct ViewState: Codable, Sendable {}
  let initialState = State()
  func effect(of input: Input, in state: State) -> Effect<Int> { .action(1) }
  func reduce(_ state: inout State, _ action: Int) { state.hidden += action }
  func view(of state: State) -> ViewState { ViewState() }
}
