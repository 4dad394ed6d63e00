// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import TestSupport
import Testing

/// Faults that are injected into work with policies: each attempt meets one.
@Suite("Faults of attempts")
struct AttemptFaultTests {
  private static let bad = ControlledMachine.Action.note("bad")
  private static func isBad(_ action: ControlledMachine.Action) -> Bool { action == bad }

  /// Saves, and counts how often.
  private static func save(_ saves: Record<Int>) -> Effect<ControlledMachine.Action> {
    .run("unnamed") { context in
      saves.add(1)
      await context.send(.note("saved"))
    }
  }

  private func store(_ effect: Effect<ControlledMachine.Action>) -> TestStore<ControlledMachine> {
    TestStore(ControlledMachine(effects: ["do": { _ in effect }, "stop": { _ in .cancel("do") }]))
  }

  /// The places at which an operation may be named.
  private static func retried(_ saves: Record<Int>) -> [Effect<ControlledMachine.Action>] {
    [
      save(saves).operation("save", failing: bad).retried(attempts: 3, when: isBad),
      save(saves).retried(attempts: 3, when: isBad).operation("save", failing: bad),
      save(saves).operation("save", failing: bad).retried(attempts: 3, when: isBad)
        .compactMap { $0 },
      // The machine of a child, whose actions have another type.
      Effect<Int>.run("save", failing: Failing(failure: 0) { $0 == 0 }) { context in
        saves.add(1)
        await context.send(1)
      }
      .retried(attempts: 3) { $0 == 0 }
      .compactMap { .note($0 == 0 ? "bad" : "saved") },
    ]
  }

  @Test("each attempt of a retried operation meets a fault", arguments: 0..<4)
  func eachAttempt(place: Int) async throws {
    // A fault replaced the work with its policies, so it was never tried again.
    for failures in 1...4 {
      let saves = Record<Int>()
      let store = store(Self.retried(saves)[place])
      await store.inject(.fail, into: "save", times: failures)
      try await store.send("do")
      try await store.advance(by: .seconds(3))
      let result = failures < 3 ? "saved" : "bad"
      try await store.receive(.note(result)) { $0.notes = [result] }
      #expect(saves.all.count == (failures < 3 ? 1 : 0))
      try await store.finish()
    }
  }

  /// The parent of a controlled machine.
  struct Stage: StateMachine {
    enum Input: Codable, Sendable { case machine(input: ControlledMachine.Input) }
    enum Action: Equatable, Sendable { case machine(ControlledMachine.Action) }
    struct State: Sendable { var machine = ControlledMachine.State() }

    let initialState = State()
    let machine: ControlledMachine

    var children: [Child<Stage>] {
      Child(
        "machine", machine, state: \.machine,
        input: CasePath(Input.machine) { if case .machine(let input) = $0 { input } else { nil } },
        action: CasePath(Action.machine) {
          if case .machine(let action) = $0 { action } else { nil }
        }
      )
    }

    func effect(of input: Input, in state: State) -> Effect<Action> { .none }
    func reduce(_ state: inout State, _ action: Action) {}
    func view(of state: State) -> [String] { state.machine.notes }
  }

  @Test("each attempt of a child's operation meets a fault")
  func child() async throws {
    for failures in 1...3 {
      let saves = Record<Int>()
      let effect = Self.retried(saves)[0]
      let store = TestStore(Stage(machine: ControlledMachine(effects: ["do": { _ in effect }])))
      await store.inject(.fail, into: "machine/save", times: failures)
      try await store.send(.machine(input: "do"))
      try await store.advance(by: .seconds(3))
      let note = failures < 3 ? "saved" : "bad"
      try await store.receive(.machine(.note(note))) { $0.machine.notes = [note] }
      try await store.finish()
    }
  }

  @Test("an operation that is named after `compactMap` is one attempt")
  func namedOutside() async throws {
    let effect = Effect<Int>.run("unnamed") { await $0.send(1) }
      .retried(attempts: 3) { $0 == 0 }
      .compactMap { ControlledMachine.Action.note("\($0)") }
      .operation("save", failing: Self.bad)
    let store = store(effect)
    await store.inject(.fail, into: "save")
    try await store.send("do")
    try await store.receive(Self.bad) { $0.notes = ["bad"] }
    try await store.send("do")
    try await store.receive(.note("1")) { $0.notes = ["bad", "1"] }
    try await store.finish()
  }

  @Test("parts of an attempt meet faults too")
  func parts() async throws {
    let effect = Effect<ControlledMachine.Action>.run("save") { context in
      let text = await context.operation("write", failing: "bad", when: { $0 == "bad" }) { "ok" }
      await context.send(.note(text))
    }
    .retried(attempts: 2, when: Self.isBad)
    let store = store(effect)
    await store.inject(.fail, into: "write")
    try await store.send("do")
    try await store.advance(by: .seconds(1))
    try await store.receive(.note("ok")) { $0.notes = ["ok"] }
    try await store.finish()
  }

  @Test("work that hangs or is late exceeds its timeout")
  func timeout() async throws {
    // They replaced the timeout, so that the work hung forever.
    let saves = Record<Int>()
    let store = store(
      Self.save(saves).operation("save", failing: Self.bad)
        .timeout(after: .seconds(2), .note("timed out")))
    for fault in [Fault.hang, .delay(.seconds(3))] {
      await store.inject(fault, into: "save")
      try await store.send("do")
      try await store.advance(by: .seconds(2))
      try await store.receive(.note("timed out")) { $0.notes.append("timed out") }
    }
    await store.inject(.delay(.seconds(1)), into: "save")
    try await store.send("do")
    try await store.advance(by: .seconds(1))
    try await store.receive(.note("saved")) { $0.notes.append("saved") }
    #expect(saves.all.count == 1)
    try await store.finish()
  }

  @Test("a cached action meets no fault, and a failure is not cached")
  func cached() async throws {
    let saves = Record<Int>()
    let cache = ExpiringCache<String, ControlledMachine.Action>()
    let store = store(
      Self.save(saves).operation("save", failing: Self.bad)
        .cached(in: cache, key: "a", for: .seconds(9)) { $0 != Self.bad })
    await store.inject(.fail, into: "save")
    try await store.send("do")
    try await store.receive(Self.bad) { $0.notes = ["bad"] }
    try await store.send("do")
    try await store.receive(.note("saved")) { $0.notes = ["bad", "saved"] }
    await store.inject(.fail, into: "save")
    try await store.send("do") { $0.notes.append("saved") }
    #expect(saves.all.count == 1)
    try await store.finish()
  }

  @Test("an effect that waits meets its fault when it begins")
  func postponed() async throws {
    let saves = Record<Int>()
    let store = store(
      Self.save(saves).operation("save", failing: Self.bad).debounced("do", for: .seconds(1)))
    await store.inject(.fail, into: "save")
    try await store.send("do")
    try await store.send("stop")
    try await store.send("do")
    try await store.advance(by: .seconds(1))
    try await store.receive(Self.bad) { $0.notes = ["bad"] }
    #expect(saves.all.isEmpty)
    try await store.finish()
  }

  @Test("an attempt that hangs can be cancelled")
  func cancelled() async throws {
    let store = store(
      Self.save(Record<Int>()).operation("save", failing: Self.bad)
        .retried(attempts: 2, when: Self.isBad).cancellable("do"))
    await store.inject(.hang, into: "save")
    try await store.send("do")
    try await store.send("stop")
    try await store.finish()
  }

  @Test("work says that it begins when an attempt is carried out")
  func begins() async throws {
    let begun = Record<Int>()
    let store = store(
      Self.save(Record<Int>()).operation("save", failing: Self.bad)
        .retried(attempts: 3, when: Self.isBad).onBegin { begun.add(1) })
    await store.inject(.fail, into: "save", times: 2)
    try await store.send("do")
    try await store.advance(by: .seconds(1))
    #expect(begun.all.isEmpty)
    try await store.advance(by: .seconds(2))
    #expect(begun.all.count == 1)
    try await store.receive(.note("saved")) { $0.notes = ["saved"] }
    try await store.finish()
  }
}
