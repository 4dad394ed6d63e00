// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import Testing

/// Tests of what has to be received, and of refusals.
@Suite("Test store: steps")
struct TestStoreStepTests {
  /// A machine with postponed effects, events and refusals.
  struct Board: StateMachine {
    enum Input: Codable, Sendable {
      case typed(String)
      case saved, opened, cleared, listed
      case weighed(Double)
      case checked(String)
    }
    enum Action: Equatable, Sendable {
      case typed(String)
      case saved, counted, cleared, closed
      case weighed(Double)
      case failed
    }
    enum Event: Codable, Equatable, Sendable { case saved, cleared }
    struct State: Codable, Equatable, Sendable {
      var text = ""
      var saves = 0
      var count = 0
      var weight = 0.0
      var isClosed = false
    }

    let initialState = State()

    func effect(of input: Input, in state: State) -> Effect<Action> {
      switch input {
      case .typed(let text):
        .several(
          .action(.typed(text)), Effect.action(.saved).debounced("save", for: .seconds(1)))
      case .saved:
        Effect.action(.saved).throttled("saved", for: .seconds(2), keeping: .latest)
      case .opened:
        .several(
          .run("wait") { try? await $0.sleep(for: .seconds(9)) }.cancellable("w").onCancel(.closed),
          .after(.seconds(1), .several(.action(.counted), .cancel("w"), .action(.counted))))
      case .cleared: .several(.action(.cleared), .action(.counted))
      case .listed: .run("list") { await $0.send(.cleared) }
      case .weighed(let weight):
        .several(
          .action(.weighed(weight)), .after(.seconds(1), .action(.weighed(1 / weight))))
      case .checked(let name):
        .run("check") { context in
          await context.refuse(
            InputRefusal(.limit(name), "too many", member: "name"), otherwise: .failed)
        }
      }
    }

    func refusal(of input: Input, in state: State) -> InputRefusal? {
      guard case .typed(let text) = input, text.isEmpty || text == state.text else { return nil }
      return text.isEmpty
        ? InputRefusal(.value, "a title must not be empty", member: "title")
        : InputRefusal(.limit("titles"), "this title is there")
    }

    func reduce(_ state: inout State, _ action: Action) {
      switch action {
      case .typed(let text): state.text = text
      case .saved: state.saves += 1
      case .counted: state.count += 1
      case .cleared: state.text = ""
      case .closed: state.isClosed = true
      case .weighed(let weight): state.weight = weight
      case .failed: state.text = "failed"
      }
    }

    func event(of action: Action, in state: State) -> Event? {
      switch action {
      case .saved: .saved
      case .cleared: .cleared
      default: nil
      }
    }
  }

  /// Checks the message of a failure.
  private func fails(
    _ message: String, at location: SourceLocation = #_sourceLocation,
    _ step: () async throws -> Void
  ) async {
    let failure = await #expect(throws: TestFailure.self, sourceLocation: location) {
      try await step()
    }
    #expect(failure?.message == message, sourceLocation: location)
  }

  // MARK: Postponed

  @Test("a postponed immediate effect is received")
  func postponed() async throws {
    // They were folded while the clock advanced, and no test could miss them.
    let store = TestStore(Board())
    try await store.send(.typed("a")) { $0.text = "a" }
    try await store.advance(by: .seconds(1))
    #expect(await store.state.saves == 0)
    await fails("the action saved was not received before sending saved") {
      try await store.send(.saved)
    }
    try await store.receive(.saved) { $0.saves = 1 }
    try await store.receive(event: .saved)
    await fails("expected an action, got nothing") { try await store.receive() }
    try await store.finish()
  }

  @Test("the first effect of a window is part of its input; the last one is received")
  func throttled() async throws {
    let store = TestStore(Board())
    try await store.send(.saved) { $0.saves = 1 }
    try await store.receive(event: .saved)
    try await store.send(.saved)
    try await store.advance(by: .seconds(2))
    try await store.receive(.saved) { $0.saves = 2 }
    try await store.receive(event: .saved)
    try await store.finish()
  }

  @Test("each action of a later step is received, also that of cancelled work")
  func several() async throws {
    let store = TestStore(Board())
    try await store.send(.opened)
    try await store.advance(by: .seconds(1))
    try await store.receive(.counted) { $0.count = 1 }
    try await store.receive(.closed) { $0.isClosed = true }
    await fails("the action counted was not received before the end") { try await store.finish() }
  }

  @Test("a postponed action is skipped by a store that is not exhaustive")
  func notExhaustive() async throws {
    let store = TestStore(Board(), exhaustive: false)
    try await store.send(.typed("a"))
    try await store.advance(by: .seconds(1))
    try await store.send(.opened) { $0.saves = 1 }
    try await store.advance(by: .seconds(1))
    try await store.receive(.closed) { $0.count = 1 }
    try await store.receive(event: .saved)
    try await store.finish()
  }

  @Test("immediate actions that an action causes are part of its step; others are received")
  func following() async throws {
    struct Chain: StateMachine {
      struct Input: Codable, Sendable {}
      struct State: Codable, Sendable { var steps: [Int] = [] }
      enum Event: Codable, Equatable, Sendable { case three }
      let initialState = State()
      func effect(of input: Input, in state: State) -> Effect<Int> {
        .several(.action(0), .after(.seconds(1), .action(2)))
      }
      func effect(after action: Int, in state: State) -> Effect<Int> {
        switch action {
        case 0, 2: .action(action + 1)
        case 3: .several(.action(4), .run("later") { await $0.send(5) })
        default: .none
        }
      }
      func reduce(_ state: inout State, _ action: Int) { state.steps.append(action) }
      func event(of action: Int, in state: State) -> Event? { action == 3 ? .three : nil }
    }
    let store = TestStore(Chain())
    try await store.send(.init()) { $0.steps = [0, 1] }
    try await store.advance(by: .seconds(1))
    try await store.receive(2) { $0.steps += [2, 3, 4] }
    try await store.receive(event: .three)
    try await store.receive(5) { $0.steps.append(5) }
    try await store.finish()
  }

  // MARK: Order

  @Test("an event comes after its action and before the next one")
  func order() async throws {
    let store = TestStore(Board())
    try await store.send(.listed)
    await fails("expected the event cleared, got the action cleared") {
      try await store.receive(event: .cleared)
    }
    try await store.receive(.cleared)
    await fails("expected an action, got the event cleared") { try await store.receive() }
    await fails("expected the event saved, got the event cleared") {
      try await store.receive(event: .saved)
    }
    await fails("the event cleared was not received before sending listed") {
      try await store.send(.listed)
    }
    try await store.receive(event: .cleared)
    try await store.send(.cleared) { $0.count = 1 }
    await fails("the event cleared was not received before the end") { try await store.finish() }
  }

  // MARK: Refusals

  @Test("a refused input is a failure")
  func refused() async throws {
    // An empty title was taken.
    let store = TestStore(Board())
    let text =
      #"the machine refuses the input typed(""): "#
      + "the refusal value of the member title (a title must not be empty)"
    await fails(text) { try await store.send(.typed("")) }
    #expect(await store.state == Board.State())
    try await store.send(.typed("a")) { $0.text = "a" }
    await fails(
      #"the machine refuses the input typed("a"): "#
        + #"the refusal limit("titles") (this title is there)"#
    ) { try await store.send(.typed("a")) }
    await store.cancelAll()
  }

  @Test("a refusal can be expected")
  func expected() async throws {
    let store = TestStore(Board())
    let refusal = try await store.send(.typed(""), refused: .value)
    #expect(refusal.member == "title")
    try await store.send(.typed("a")) { $0.text = "a" }
    try await store.send(.typed("a"), refused: .limit("titles"))
    await fails(
      #"expected the refusal value, got the refusal limit("titles") (this title is there)"#
    ) { try await store.send(.typed("a"), refused: .value) }
    await fails(#"expected the refusal value, but the machine accepts the input typed("b")"#) {
      try await store.send(.typed("b"), refused: .value)
    }
    try await store.advance(by: .seconds(1))
    await fails("the action saved was not received before sending typed(\"\")") {
      try await store.send(.typed(""), refused: .value)
    }
    await store.cancelAll()
  }

  @Test("a refusal by work is received before the action that shows it")
  func late() async throws {
    let store = TestStore(Board())
    try await store.send(.checked("names"))
    await fails(
      #"the refusal limit("names") of the member name (too many) was not received "#
        + "before sending cleared"
    ) { try await store.send(.cleared) }
    await fails(
      #"expected an action, got the refusal limit("names") of the member name (too many)"#
    ) { try await store.receive() }
    let refusal = try await store.receive(refusal: .limit("names"))
    #expect(refusal.message == "too many")
    try await store.receive(.failed) { $0.text = "failed" }
    try await store.finish()
  }

  // MARK: States

  @Test("a store begins in a given state")
  func initialState() async throws {
    let store = TestStore(Board(), state: Board.State(text: "a", count: 3))
    try await store.send(.typed("a"), refused: .limit("titles"))
    try await store.send(.cleared) { ($0.text, $0.count) = ("", 4) }
    try await store.receive(event: .cleared)
    try await store.finish()
  }

  @Test("a state that cannot be encoded is a failure, also when it comes later")
  func unencodable() async throws {
    let store = TestStore(Board())
    let failure = await #expect(throws: TestFailure.self) {
      try await store.send(.weighed(.infinity)) { $0.weight = .infinity }
    }
    #expect(
      failure?.message.hasPrefix("the state after the input weighed(inf) cannot be encoded: ")
        == true)
    try await store.send(.weighed(0))
    try await store.advance(by: .seconds(1))
    let later = await #expect(throws: TestFailure.self) { try await store.finish() }
    #expect(later?.message.hasPrefix("the state after an action cannot be encoded: ") == true)
  }

  @Test("a failure names the line of the call")
  func place() async throws {
    let store = TestStore(Board(), patience: .zero)
    let line = #line
    let failures = [
      await #expect(throws: TestFailure.self) { try await store.send(.cleared) },
      await #expect(throws: TestFailure.self) { try await store.receive() },
      await #expect(throws: TestFailure.self) { try await store.receive(.failed) },
      await #expect(throws: TestFailure.self) { try await store.receive(where: { _ in true }) },
      await #expect(throws: TestFailure.self) { try await store.receive(event: .saved) },
      await #expect(throws: TestFailure.self) { try await store.receive(refusal: .value) },
      await #expect(throws: TestFailure.self) { try await store.send(.typed(""), refused: .value) },
      await #expect(throws: TestFailure.self) { try await store.finish() },
    ]
    for (index, failure) in failures.enumerated() {
      #expect(failure?.place.line == line + 2 + index)
      #expect(failure?.place.fileID == #fileID && failure?.place.filePath == #filePath)
    }
    #expect(
      failures[0]?.description
        == "TestStoreStepTests.swift:\(line + 2): after the input cleared the state differs from "
        + "the expected state:\n  count: expected 0, got 1")
  }

  @Test("an error of the closure that changes the state is thrown")
  func throwing() async throws {
    struct Missing: Error {}
    let store = TestStore(Board())
    await #expect(throws: Missing.self) { try await store.send(.listed) { _ in throw Missing() } }
    await store.cancelAll()
  }
}
