// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Built-in hooks")
struct BuiltinHookTests {
  private struct Failure: Error {}

  private static let effects:
    [String: @Sendable (ControlledMachine.State) -> Effect<ControlledMachine.Action>] = [
      "save": { _ in Effect.action(.note("saved")).operation("save", failing: .note("bad")) },
      "load": { _ in
        .run("load") { context in
          await context.send(.note("1"))
          await context.operation("fetch", failing: (), when: { _ in true }) {}
          await context.send(.note("2"))
        }.operation("load", failing: .note("bad"))
      },
      "follow": { _ in
        .run("follow") { context in
          await context.becomeFeed(sending: .note("first"))
          try? await context.sleep(for: .seconds(1))
        }.cancellable("x")
      },
      "wait": { _ in .note("wait", after: 1).cancellable("x") },
      "cancel": { _ in .cancel("x") },
    ]

  /// Sends the inputs and closes the store; for "name!" a fault is injected into the operation.
  private func play(_ inputs: [String], _ hooks: Hook<ControlledMachine>...) async throws {
    let bench = try await Bench(ControlledMachine(effects: Self.effects), hooks: hooks)
    for input in inputs {
      let name = input.hasSuffix("!") ? String(input.dropLast()) : input
      if name != input { bench.faults.inject(.fail, into: name) }
      let before = bench.notes.count
      try await bench.send(.init(stringLiteral: name), noting: name)
      if name != "wait" { await bench.reaches(notes: before + 1) }
    }
    await bench.end()
  }

  // MARK: Shorthands

  @Test("`handleOutput` receives outputs and `handleError` receives failures of operations")
  func shorthands() async throws {
    let outputs = Record<String>()
    let errors = Record<String>()
    try await play(
      ["plain", "save", "save!", "load", "load!"],
      .handleOutput { outputs.add("\($0.name) \($1)") },
      .handleError { errors.add("\($0.name) \($1)") })
    await eventually("three outputs and two failures") { outputs.count == 3 && errors.count == 2 }
    #expect(outputs.all == [#"save note("saved")"#, #"load note("1")"#, #"load note("2")"#])
    #expect(errors.all == [#"save note("bad")"#, #"load note("bad")"#])
  }

  @Test("an error that a shorthand hook throws is passed to `failed`")
  func shorthandsThrow() async throws {
    let failed = Record<String>()
    try await play(
      ["save", "save!"],
      .handleOutput({ _, _ in throw Failure() }, failed: { _ in failed.add("output") }),
      .handleError({ _, _ in throw Failure() }, failed: { _ in failed.add("error") }))
    await eventually("two errors") { failed.count == 2 }
    #expect(Set(failed.all) == ["output", "error"])
  }

  // MARK: Debug print

  @Test("`debugPrint` writes a line at the end of each operation, without payload")
  func debugPrint() async throws {
    let lines = Record<String>()
    try await play(
      ["plain", "save", "save!", "load", "wait", "cancel"], .debugPrint { lines.add($0) })
    await eventually("five lines") { lines.count == 5 }
    #expect(
      lines.all == [
        "save finished", "an error occurred: save failed", "an error occurred: fetch failed",
        "load finished", "wait was cancelled",
      ])
  }

  // MARK: Tracking

  @Test("`tracking` counts an intent and its outcome separately, each once")
  func tracking() async throws {
    enum Input: Codable, Sendable {
      case todoAdded(title: String)
      case listShown
    }
    struct Todos: StateMachine {
      enum Action: Sendable {
        case addTodo(String)
        case setState
        case failed
      }
      struct State: Codable, Sendable { var todos: [String] = [] }
      let initialState = State()

      func effect(of input: Input, in state: State) -> Effect<Action> {
        switch input {
        case .todoAdded(let title):
          Effect.action(.addTodo(title)).operation("addTodo", failing: .failed) {
            if case .failed = $0 { true } else { false }
          }
        case .listShown:
          .run("getTodos") { context in
            await context.becomeFeed(sending: .setState)
            await context.send(.setState)
            await context.send(.addTodo("other"))
            try? await context.sleep(for: .seconds(1))
          }
        }
      }

      func reduce(_ state: inout State, _ action: Action) {
        if case .addTodo(let title) = action { state.todos.append(title) }
      }
    }
    let counted = Record<String>()
    let hook = Hook<Todos>.tracking(
      .intent("todoAddTapped", input: "todoAdded"),
      .outcome("todoAdded", operation: "addTodo"),
      .outcome("todosShown", operation: "getTodos", action: "setState"),
      .outcome("never", operation: "getTodos")
    ) { counted.add($0) }
    let bench = try await Bench(Todos(), hooks: [hook])
    try await bench.send(.todoAdded(title: "secret"))
    bench.faults.inject(.fail, into: "addTodo")
    try await bench.send(.todoAdded(title: "secret"))
    try await bench.send(.listShown)
    await bench.reaches(revision: 2)
    await bench.end()
    await eventually("four counted events") { counted.count == 4 }
    // Another store is counted separately, although its operations have the same numbers.
    let other = try await Bench(Todos(), hooks: [hook])
    try await other.send(.listShown)
    await other.reaches(revision: 1)
    await other.end()
    await eventually("five counted events") { counted.count == 5 }
    #expect(
      counted.all == [
        "todoAddTapped", "todoAdded", "todoAddTapped", "todosShown", "todosShown",
      ])
  }

  @Test("`tracking` rejects two events with the same name")
  func trackingTwice() async {
    await #expect(processExitsWith: .failure) {
      _ = Hook<ControlledMachine>.tracking(
        .intent("a", input: "x"), .outcome("a", operation: "y")
      ) { _ in }
    }
  }

  // MARK: Persisting

  @Test(
    "`persisting` passes each published view state, in order",
    arguments: 0...2)
  func persisting(depth: Int) async throws {
    let kept = Record<[String]>()
    var hook = Hook<ControlledMachine>.persisting { kept.add($0.notes) }
    // The hook is per store already. Another `perStore` wrapper must not change it.
    for _ in 0..<depth { hook = .perStore { [hook] in hook } }
    let bench = try await Bench(
      ControlledMachine(effects: ["hide": { _ in .action(.hide(1)) }]), hooks: [hook])
    for (number, input) in ["a", "hide", "b"].enumerated() {
      try await bench.send(.init(stringLiteral: input))
      if number != 1 { await eventually(Comment(rawValue: input)) { kept.all.last?.last == input } }
    }
    #expect(kept.all == [["a"], ["a", "b"]])
    await bench.end()
  }

  @Test(
    "`persisting` keeps only the newest waiting state, and passes the last after the store closed")
  func persistingNewest() async throws {
    // More states than the queue of a hook holds: another kind of hook would miss the last of them.
    let kept = Record<Double>()
    let gate = Gate()
    let bench = try await Bench(
      ControlledMachine(effects: ["weigh": { .action(.weigh($0.weight + 1)) }]),
      hooks: [
        .persisting { state in
          await gate.wait()
          kept.add(state.weight)
        }
      ])
    try await bench.send("weigh")
    await eventually("the first state is being persisted") { gate.waiting == 1 }
    for _ in 0..<3_000 { try await bench.send("weigh") }
    await bench.end()
    #expect(kept.all == [])
    gate.open()
    await eventually("two states are persisted") { kept.count == 2 }
    #expect(kept.all == [1, 3_001])
  }

  @Test("a state that cannot be persisted is reported, and the next one is persisted")
  func persistingFails() async throws {
    let failed = Record<String>()
    let kept = Record<String>()
    let bench = try await Bench(
      ControlledMachine(),
      hooks: [
        .persisting(
          { state in
            if state.notes.count == 1 { throw Failure() }
            kept.add(state.notes.joined())
          }, failed: { failed.add("\($0)") })
      ])
    try await bench.send("a")
    await eventually("one failure") { failed.count == 1 }
    try await bench.send("b")
    await eventually("the next state is persisted") { kept.count == 1 }
    #expect(kept.all == ["ab"])
    await bench.end()
  }

  // MARK: Processes

  @Test(
    "`process` stops what it has started", arguments: ["finish", "fail", "cancel", "close", "drop"])
  func process(how: String) async throws {
    let seen = Record<String>()
    let hook = Hook<ControlledMachine>.process { operation in
      seen.add("start \(operation.name)")
      return operation.name
    } stop: { name, end in
      seen.add("stop \(name), \(end.rawValue)")
    }
    var bench: Bench<ControlledMachine>? = try await Bench(
      ControlledMachine(effects: Self.effects), hooks: [hook])
    switch how {
    case "finish": _ = try await bench?.send("save")
    case "fail":
      bench?.faults.inject(.fail, into: "save")
      _ = try await bench?.send("save")
    default: _ = try await bench?.send("wait")
    }
    if how == "cancel" { _ = try await bench?.send("cancel") }
    if how == "drop" { bench = nil } else { await bench?.end() }
    await eventually("a start and a stop") { seen.count == 2 }
    #expect(
      seen.all
        == (how == "finish"
          ? ["start save", "stop save, finished"]
          : how == "fail"
            ? ["start save", "stop save, failed"] : ["start wait", "stop wait, cancelled"]))
  }

  @Test("`process` does not stop what failed to start, and keeps the stores apart")
  func processes() async throws {
    let seen = Record<String>()
    let starts = Record<Int>()
    let hook = Hook<ControlledMachine>.process { operation in
      starts.add(1)
      if starts.count == 1 { throw Failure() }
      return starts.count
    } stop: { number, _ in
      seen.add("stop \(number)")
    }
    let one = try await Bench(ControlledMachine(effects: Self.effects), hooks: [hook])
    let two = try await Bench(ControlledMachine(effects: Self.effects), hooks: [hook])
    try await one.send("wait")
    await eventually("the first start") { starts.count == 1 }
    try await two.send("wait")
    await eventually("the second start") { starts.count == 2 }
    try await one.send("wait")
    await eventually("the third start") { starts.count == 3 }
    await one.end()
    await eventually("the stop in the first store") { seen.count == 1 }
    await two.end()
    await eventually("the stop in the second store") { seen.count == 2 }
    #expect(seen.all == ["stop 3", "stop 2"])
  }
}
