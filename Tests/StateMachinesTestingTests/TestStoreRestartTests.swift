// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import Testing

@Suite("Test store: restarts")
struct TestStoreRestartTests {
  /// A reminder that keeps its deadline, and a payment that a restart does not repeat.
  struct Reminder: DurableMachine {
    enum Input: Codable, Sendable {
      case remindLater(seconds: Int)
      case pay, sign
    }
    enum Action: Equatable, Sendable {
      case reminded, paying, paid, payFailed, ticked, resumed, interrupted
      case signed(String)
    }
    enum Event: Codable, Equatable, Sendable { case resumed }

    struct State: Codable, Equatable, Sendable {
      var status = ""
      var ticks = 0
      var draft = ""
      var isDraftCoded = true

      private enum CodingKeys: CodingKey { case status, ticks, isDraftCoded }
    }

    let initialState = State()
    let pay: @Sendable () async -> Bool

    var initialEffect: Effect<Action> { .ticks("ticks", every: .seconds(10)) { .ticked } }

    func effect(of input: Input, in state: State) -> Effect<Action> {
      switch input {
      case .remindLater(let seconds): .after(.seconds(seconds), .action(.reminded))
      case .pay:
        .several(
          .action(.paying),
          .run("pay") { [pay] context in await context.send(await pay() ? .paid : .payFailed) }
            .onCancel(.payFailed))
      case .sign: .identified { id in .action(.signed(id?.description ?? "")) }
      }
    }

    func reduce(_ state: inout State, _ action: Action) {
      switch action {
      case .reminded, .paying, .paid, .payFailed, .resumed, .interrupted: state.status = "\(action)"
      case .ticked: state.ticks += 1
      case .signed(let id): state.status = id
      }
    }

    func event(of action: Action, in state: State) -> Event? {
      action == .resumed ? .resumed : nil
    }

    func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
      switch input {
      case .remindLater(let seconds):
        .after(max(.zero, .seconds(seconds) - elapsed), .action(.reminded))
      case .pay: .action(.payFailed)
      case .sign: effect(of: input, in: state)
      }
    }

    func resumption(in state: State) -> Effect<Action> {
      .several(.action(.resumed), initialEffect)
    }

    func interruption(in state: State) -> Action? { .interrupted }
  }

  private func store(
    _ state: Reminder.State? = nil, pay: @escaping @Sendable () async -> Bool = { true }
  ) -> TestStore<Reminder> {
    TestStore(Reminder(pay: pay), state: state)
  }

  @Test("an input whose effects had not ended is restarted, with the time since it was accepted")
  func restarted() async throws {
    let store = store()
    try await store.send(.remindLater(seconds: 5))
    try await store.advance(by: .seconds(1))
    try await store.restart(after: .seconds(3)) { $0.status = "resumed" }
    try await store.receive(event: .resumed)
    try await store.advance(by: .milliseconds(900))
    #expect(await store.state.status == "resumed")
    try await store.advance(by: .milliseconds(100))
    try await store.receive(.reminded) { $0.status = "reminded" }
    // Settled: another restart does not repeat it.
    try await store.restart { $0.status = "resumed" }
    try await store.receive(event: .resumed)
    // The feed of the old store has ended, and the new one begins.
    try await store.advance(by: .seconds(10))
    try await store.receive(.ticked) { $0.ticks = 1 }
    try await store.finish()
  }

  @Test("the old work sends nothing, and is not cancelled by the machine")
  func killed() async throws {
    let clock = ManualClock()
    let store = TestStore(
      Reminder(pay: {
        try? await clock.sleep(for: .seconds(2))
        return true
      }), clock: clock)
    try await store.send(.pay) { $0.status = "paying" }
    // `onCancel` is folded when an effect is cancelled, not when the process is killed.
    try await store.restart(losingInputs: true) { $0.status = "resumed" }
    try await store.receive(event: .resumed)
    try await store.advance(by: .seconds(5))
    try await store.finish()
  }

  @Test("immediate actions of a restart are part of it; lost inputs fold the interruption")
  func parts() async throws {
    let store = store()
    await store.inject(.hang, into: "pay")
    try await store.send(.pay) { $0.status = "paying" }
    try await store.restart { $0.status = "payFailed" }
    try await store.receive(event: .resumed)
    try await store.restart(losingInputs: true) { $0.status = "resumed" }
    try await store.receive(event: .resumed)
    try await store.finish()
  }

  @Test("a restarted input keeps the id of its operation")
  func identified() async throws {
    let store = store()
    try await store.send(.sign) { $0.status = "test#1.2" }
    try await store.restart { $0.status = "resumed" }
    try await store.receive(event: .resumed)
    try await store.send(.sign) { $0.status = "test#2.4" }
    await store.cancelAll()
  }

  @Test("a restart fails if a part of the state is not encoded or something was not received")
  func failures() async throws {
    let store = store(Reminder.State(draft: "lost"))
    let lost = await #expect(throws: TestFailure.self) {
      try await store.restart { $0.status = "resumed" }
    }
    #expect(
      lost?.message
        == "after the restart the state differs from the expected state:\n"
        + #"  draft: expected "lost", got """#)
    let event = await #expect(throws: TestFailure.self) { try await store.restart() }
    #expect(event?.message == "the event resumed was not received before the restart")
    await store.cancelAll()
  }

  @Test("a store opens in a journaled state")
  func restoring() async throws {
    let store = try await TestStore(
      restoring: Reminder(pay: { true }),
      from: #"{"status":"paid","ticks":4,"isDraftCoded":true}"#)
    #expect(await store.state == Reminder.State(status: "resumed", ticks: 4))
    try await store.receive(event: .resumed)
    try await store.advance(by: .seconds(10))
    try await store.receive(.ticked) { $0.ticks = 5 }
    try await store.finish()
    let line = #line + 1
    let failure = await #expect(throws: TestFailure.self) {
      try await TestStore(restoring: Reminder(pay: { true }), from: #"{"status":7}"#)
    }
    #expect(failure?.place.line == line)
    #expect(failure?.message.hasPrefix("the state cannot be restored: ") == true)
    #expect(failure?.message.contains("/status") == true)
  }
}
