// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import Testing

@Suite("Test store: events and faults")
struct TestStoreEventTests {
  /// A machine that rings immediately or after a wait, and sends a request whose operation can
  /// fail.
  struct Bell: StateMachine {
    enum Input: Codable, Sendable { case ring, ringLater, ask }
    enum Action: Equatable, Sendable { case rang, responded, failed }
    enum Event: Codable, Equatable, Sendable { case rang(times: Int) }
    struct State: Codable, Sendable {
      var rings = 0
      var response = ""
    }

    let initialState = State()

    func effect(of input: Input, in state: State) -> Effect<Action> {
      switch input {
      case .ring: .action(.rang)
      case .ringLater: .after(.seconds(1), .action(.rang))
      case .ask: .run("work") { await $0.send(.responded) }.operation("ask", failing: .failed)
      }
    }

    func reduce(_ state: inout State, _ action: Action) {
      switch action {
      case .rang: state.rings += 1
      case .responded: state.response = "yes"
      case .failed: state.response = "no"
      }
    }

    func event(of action: Action, in state: State) -> Event? {
      action == .rang ? .rang(times: state.rings) : nil
    }
  }

  @Test("events are received in their order")
  func events() async throws {
    let store = TestStore(Bell())
    try await store.send(.ring) { $0.rings = 1 }
    try await store.receive(event: .rang(times: 1))
    try await store.send(.ringLater)
    try await store.advance(by: .seconds(1))
    try await store.receive(.rang) { $0.rings = 2 }
    try await store.receive(event: .rang(times: 2))
    try await store.finish()
  }

  @Test("a missing, different or unreceived event is a failure")
  func failures() async throws {
    let store = TestStore(Bell())
    await #expect(throws: TestFailure.self) { try await store.receive(event: .rang(times: 1)) }
    try await store.send(.ring) { $0.rings = 1 }
    await #expect(throws: TestFailure.self) { try await store.send(.ring) }
    await #expect(throws: TestFailure.self) { try await store.receive(event: .rang(times: 2)) }
    await #expect(throws: TestFailure.self) { try await store.finish() }
  }

  @Test("a store that is not exhaustive does not require events to be received")
  func notExhaustive() async throws {
    let store = TestStore(Bell(), exhaustive: false)
    try await store.send(.ring)
    try await store.send(.ring)
    try await store.receive(event: .rang(times: 1))
    try await store.finish()
  }

  @Test("an injected fault applies to the given number of operations")
  func fail() async throws {
    let store = TestStore(Bell())
    await store.inject(.fail, into: "ask", times: 2)
    for _ in 0..<2 {
      try await store.send(.ask)
      try await store.receive(.failed) { $0.response = "no" }
    }
    try await store.send(.ask)
    try await store.receive(.responded) { $0.response = "yes" }
    try await store.finish()
  }

  @Test("a delayed operation waits for the clock, and one that hangs still runs at the end")
  func delayAndHang() async throws {
    let store = TestStore(Bell(), patience: .zero)
    await store.inject(.delay(.seconds(2)), into: "ask")
    try await store.send(.ask)
    try await store.advance(by: .seconds(1))
    await #expect(throws: TestFailure.self) { try await store.receive() }
    try await store.advance(by: .seconds(1))
    try await store.receive(.responded) { $0.response = "yes" }
    await store.inject(.hang, into: "ask")
    try await store.send(.ask)
    try await store.advance(by: .seconds(1_000))
    await #expect(throws: TestFailure.self) { try await store.finish() }
  }
}
