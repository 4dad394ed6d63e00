// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import Testing

@Suite("Test store: feeds with one id")
struct TestStoreFeedTests {
  /// A machine whose feeds all have the id `ticks`.
  struct Clock: StateMachine {
    enum Input: Codable, Sendable { case start, replace, keep, both, later, stop }
    enum Action: Equatable, Sendable { case ticked, stopped }
    struct State: Codable, Sendable { var ticks = 0 }

    let initialState = State()
    var beginsTwice = false

    var initialEffect: Effect<Action> { beginsTwice ? .several(ticks, ticks) : .none }

    func effect(of input: Input, in state: State) -> Effect<Action> {
      switch input {
      case .start: ticks
      case .replace: ticks.latest("ticks")
      case .keep: ticks.unlessRunning()
      case .both: .several(ticks, .ticks("ticks", every: .seconds(2)) { .ticked })
      case .later: ticks.debounced("later", for: .seconds(3))
      case .stop: .several(.cancel("ticks"), .action(.stopped))
      }
    }

    func reduce(_ state: inout State, _ action: Action) {
      if action == .ticked { state.ticks += 1 }
    }

    private var ticks: Effect<Action> { .ticks("ticks", every: .seconds(1)) { .ticked } }
  }

  private let message =
    "a feed with the id \"ticks\" runs already, so another one has not begun; give it another id, "
    + "or say with latest that it replaces the running one, or with unlessRunning that the running "
    + "one continues"

  // Regression: it was dropped silently. The second of two stopwatches never ticked.
  @Test("a second feed with the id of a running one is a failure of the call that begins it")
  func twice() async throws {
    let store = TestStore(Clock())
    try await store.send(.start)
    let line = #line + 1
    let failure = await #expect(throws: TestFailure.self) { try await store.send(.start) }
    #expect(failure?.message == message)
    #expect(failure?.place.line == line)
    // The first one continues, and the failure is reported once.
    try await store.advance(by: .seconds(1))
    try await store.receive(.ticked) { $0.ticks = 1 }
    try await store.finish()
  }

  @Test(
    "so are two feeds of one effect, and those of the initial effect", arguments: [true, false])
  func oneEffect(isExhaustive: Bool) async throws {
    let store = TestStore(Clock(), exhaustive: isExhaustive)
    #expect(
      await #expect(throws: TestFailure.self) { try await store.send(.both) }?.message == message)
    await store.cancelAll()
    let other = TestStore(Clock(beginsTwice: true), exhaustive: isExhaustive)
    #expect(
      await #expect(throws: TestFailure.self) { try await other.finish() }?.message == message)
  }

  @Test("a postponed feed is a failure of the step after it has begun")
  func postponed() async throws {
    let store = TestStore(Clock())
    try await store.send(.later)
    try await store.send(.start)
    try await store.advance(by: .seconds(3))
    let failure = await #expect(throws: TestFailure.self) { try await store.receive(.ticked) }
    #expect(failure?.message == message)
    await store.cancelAll()
  }

  @Test("latest replaces the running feed, unlessRunning keeps it, and a cancelled one is over")
  func policies() async throws {
    let store = TestStore(Clock())
    try await store.send(.keep)
    try await store.send(.keep)
    try await store.advance(by: .milliseconds(500))
    try await store.send(.replace)
    try await store.advance(by: .milliseconds(500))
    try await store.advance(by: .milliseconds(500))
    try await store.receive(.ticked) { $0.ticks = 1 }
    try await store.send(.stop)
    try await store.send(.start)
    try await store.advance(by: .seconds(1))
    try await store.receive(.ticked) { $0.ticks = 2 }
    try await store.finish()
  }
}
