// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import StatewireJSON
import Testing

@Suite("Test store: viewers, phases and versions")
struct TestStoreViewerTests {
  /// A room that knows who is in it.
  struct Room: PresenceAwareMachine, DurableMachine {
    enum Input: Codable, Sendable {
      case entered(names: [String])
      case darkened
    }
    struct State: Codable, Equatable, Sendable {
      var people: [String] = []
      var isDark = false
    }

    let initialState = State()

    func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
    func reduce(_ state: inout State, _ action: Input) {
      switch action {
      case .entered(let names): state.people = names
      case .darkened: state.isDark = true
      }
    }
    func input(for viewers: [Viewer]) -> Input? { .entered(names: viewers.map { $0.name ?? "?" }) }
    func input(for phase: LifecyclePhase) -> Input? { phase == .inactive ? .darkened : nil }

    func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Input> {
      .none
    }
    var version: Int { 3 }
    func migrate(from version: Int, state: JSONValue) throws -> JSONValue {
      var members = state.object ?? [:]
      if version < 3 { members["people"] = members.removeValue(forKey: "guests") }
      return .object(members)
    }
  }

  /// A house with a room.
  struct House: StateMachine {
    enum Input: Codable, Sendable { case room(input: Room.Input) }
    struct State: Codable, Equatable, Sendable { var room = Room.State() }
    let initialState = State()
    var children: [Child<House>] {
      Child(
        "room", Room(), state: \.room,
        input: CasePath(Input.room) { if case .room(let input) = $0 { input } else { nil } },
        action: CasePath({ $0 }, { $0 }))
    }
    func effect(of input: Input, in state: State) -> Effect<Room.Input> { .none }
    func reduce(_ state: inout State, _ action: Room.Input) {}
  }

  private let ann = Viewer(name: "ann")

  @Test("the viewers come and go, also for a child, and no client says so")
  func presence() async throws {
    let store = TestStore(Room())
    try await store.present([ann, Viewer(name: "bob")]) { $0.people = ["ann", "bob"] }
    try await store.present([]) { $0.people = [] }
    let refusal = try await store.send(.entered(names: ["eve"]), from: ann, refused: .value)
    #expect(refusal.message.contains(#"only the server sends the input "entered""#))
    try await store.finish()
    let house = TestStore(House())
    try await house.present([ann]) { $0.room.people = ["ann"] }
    try await house.send(.room(input: .entered(names: [])), from: ann, refused: .value)
    try await house.send(.room(input: .darkened), from: ann) { $0.room.isDark = true }
    try await house.finish()
  }

  @Test("a change that was not expected, and a machine without presence, are failures")
  func failures() async throws {
    let store = TestStore(Room())
    await #expect(throws: TestFailure.self) { try await store.present([ann]) }
    let other = TestStore(TestStoreEventTests.Bell())
    let failure = await #expect(throws: TestFailure.self) { try await other.present([ann]) }
    #expect(failure?.message.contains("PresenceAwareMachine") == true)
  }

  @Test("the frontends become inactive and active")
  func phases() async throws {
    let store = TestStore(House())
    try await store.enter(.inactive) { $0.room.isDark = true }
    try await store.enter(.active)
    try await store.finish()
  }

  @Test("a state of an earlier version is migrated")
  func versions() async throws {
    let old = #"{"guests":["ann"],"isDark":true}"#
    let store = try await TestStore(restoring: Room(), from: old, version: 2)
    #expect(await store.state == Room.State(people: ["ann"], isDark: true))
    await #expect(throws: TestFailure.self) {
      _ = try await TestStore(restoring: Room(), from: old, version: 4)
    }
  }
}
