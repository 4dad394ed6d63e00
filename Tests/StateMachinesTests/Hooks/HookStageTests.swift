// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Hooks at all stages")
struct HookStageTests {
  private static let effects:
    [String: @Sendable (ControlledMachine.State) -> Effect<ControlledMachine.Action>] = [
      "save": { _ in Effect.action(.note("saved")).operation("save", failing: .note("bad")) },
      "fail": { _ in Effect.action(.note("bad")).operation("save", failing: .note("bad")) },
      "load": { _ in
        .run("load") { context in
          let outcome = await context.operation("fetch", failing: "bad", when: { $0 == "bad" }) {
            "fetched"
          }
          await context.send(.note(outcome))
        }.operation("load", failing: .note("bad"))
      },
      "wait": { _ in
        .run("wait") { context in
          await context.operation("fetch", failing: (), when: { _ in false }) {
            try? await context.sleep(for: .seconds(1))
          }
        }.cancellable("x").onCancel(.note("cancelled"))
      },
      "deaf": { _ in
        .run("deaf") { context in
          await context.operation("fetch", failing: (), when: { _ in false }) {
            await Task { try? await context.sleep(for: .seconds(1)) }.value
          }
        }.cancellable("x")
      },
      "cancel": { _ in .cancel("x") },
    ]

  /// Runs a script, closes the store and returns what the trace shows. Checks that a hook sees the
  /// same.
  private func seen(
    _ inputs: [ControlledMachine.Input], fault: Fault? = nil, closes: Bool = true
  ) async throws -> [String] {
    let seen = Record<String>()
    let traced = Record<String>()
    let bench = try await Bench(
      ControlledMachine(effects: Self.effects), hooks: [.recordingAll(seen)])
    await bench.do { _, store in store.trace { traced.add($0.words) } }
    if let fault { bench.faults.inject(fault, into: "fetch") }
    for (number, input) in inputs.enumerated() {
      try await bench.send(input, noting: "\(number)")
      if input == "wait" || input == "deaf" {
        await eventually("the work sleeps") { bench.clock.sleeperCount == 1 }
      } else {
        await bench.reaches(notes: number + 1)
      }
    }
    await bench.do { _, store in _ = store.close() }
    // The trace was turned on after the store's actions and states had begun.
    let beginning = ["actions began", "actions asked", "states began", "states asked"]
    await eventually("the hook saw \(seen.all) of \(traced.all)") {
      seen.count == traced.count + beginning.count
    }
    #expect(seen.all == beginning + traced.all)
    bench.clock.advance(to: .init(offset: .seconds(9)))
    await bench.end()
    #expect(seen.count == traced.count + beginning.count, "the hook was called after the end")
    return Array(traced.all)
  }

  private static let end = ["actions finished", "states finished"]

  @Test("a hook sees an immediate operation as input, operation, action and state, in order")
  func immediate() async throws {
    #expect(
      try await seen(["save"]) == [
        "input began", "input asked, Input", "save began", "save asked", "save gave note",
        "input gave note", "actions gave note", "states gave a state", "save finished",
        "input finished",
      ] + Self.end)
    #expect(
      try await seen(["fail"]) == [
        "input began", "input asked, Input", "save began", "save asked", "save gave note, failed",
        "input gave note", "actions gave note", "states gave a state", "save failed",
        "input finished",
      ] + Self.end)
  }

  @Test("a hook sees work with a named part", arguments: [nil, Fault.fail])
  func part(fault: Fault?) async throws {
    let failed = fault == nil ? "" : ", failed"
    let end = fault == nil ? "finished" : "failed"
    #expect(
      try await seen(["load"], fault: fault) == [
        "input began", "input asked, Input", "load began", "load asked", "fetch began",
        "fetch asked", "fetch \(end)", "load gave note\(failed)", "actions gave note",
        "states gave a state", "load \(end)", "input finished",
      ] + Self.end)
  }

  @Test("a part ends once, before its work", arguments: ["wait", "deaf"])
  func cancelledPart(input: String) async throws {
    // Regression: a part outlived its work, and a part never ended if its store closed.
    let began = [
      "input began", "input asked, Input", "\(input) began", "\(input) asked", "fetch began",
      "fetch asked",
    ]
    #expect(
      try await seen([.init(stringLiteral: input)])
        == began + ["fetch cancelled", "\(input) cancelled", "input cancelled"] + Self.end)
    let folded = input == "wait" ? ["actions gave note", "states gave a state"] : []
    let gave = input == "wait" ? ["wait gave note"] : []
    #expect(
      try await seen([.init(stringLiteral: input), "cancel"])
        == began + ["input began", "input asked, Input", "fetch cancelled"] + gave
        + ["\(input) cancelled"] + folded + ["input cancelled", "input finished"] + Self.end)
  }

  @Test("in a store that is closed from inside a listener, each operation ends once")
  func closeInside() async throws {
    // Regression: the trace showed two ends of the input that closed its store.
    let traced = Record<String>()
    let bench = try await Bench(ControlledMachine())
    try await bench.do { _, store in
      store.trace { traced.add($0.words) }
      _ = store.listen { [unowned store] in if $0.revision == 1 { store.close() } }
      try store.send("x")
    }
    #expect(
      traced.all == [
        "input began", "input asked, Input", "input gave note", "actions gave note",
        "states gave a state", "input cancelled", "actions finished", "states finished",
      ])
  }

  @Test("the hook receives exactly the states that frontends receive, in order")
  func states() async throws {
    let seen = Record<String>()
    let hook = Hook<ControlledMachine>(
      stages: [.state, .action],
      receiveOutput: { operation, output in
        switch output {
        case .state(let state): seen.add("\(operation.name) \(state.notes.joined())")
        case .action(let action, isFailure: false): seen.add("\(operation.name) \(action)")
        case .action: Issue.record("no action of the store as a whole fails")
        }
      })
    let bench = try await Bench(
      ControlledMachine(effects: [
        "hide": { _ in .action(.hide(1)) }, "NaN": { _ in .action(.weigh(.nan)) },
        "1": { _ in .action(.weigh(1)) },
      ]), hooks: [hook])
    for input: ControlledMachine.Input in ["a", "hide"] { try await bench.send(input) }
    await #expect(throws: StoreError.self) { try await bench.send("NaN") }
    for input: ControlledMachine.Input in ["b", "1"] { try await bench.send(input) }
    await eventually("eight outputs") { seen.count == 8 }
    #expect(
      seen.all == [
        #"actions note("a")"#, "states a", "actions hide(1)", "actions weigh(nan)",
        #"actions note("b")"#, "states ab", "actions weigh(1.0)", "states ab",
      ])
  }

  @Test("a hook receives only the stages in `stages`", arguments: Operation.Stage.allCases)
  func stages(stage: Operation.Stage) async throws {
    let seen = Record<Operation.Stage>()
    let last = Record<Operation.Stage>()
    var hook = Hook<ControlledMachine>.stages(in: seen)
    hook.stages = [stage]
    let bench = try await Bench(
      ControlledMachine(effects: Self.effects), hooks: [hook, .stages(in: last)])
    try await bench.send("save")
    try await bench.send("load", noting: "load")
    await bench.reaches(notes: 1)
    await bench.end()
    await eventually("all stages") {
      Set(last.all) == Set(Operation.Stage.allCases) && seen.count > 1
    }
    #expect(Set(seen.all) == [stage])
  }

  @Test("a hook with `failuresOnly` receives only failures")
  func failuresOnly() async throws {
    let seen = Record<String>()
    var hook = Hook<ControlledMachine>.recordingAll(seen)
    hook.failuresOnly = true
    let bench = try await Bench(ControlledMachine(effects: Self.effects), hooks: [hook])
    for (number, input) in ["save", "fail", "load", "load", "save"].enumerated() {
      if number == 3 { bench.faults.inject(.fail, into: "fetch") }
      try await bench.send(.init(stringLiteral: input), noting: input)
      await bench.reaches(notes: number + 1)
    }
    await bench.end()
    await eventually("five failures") { seen.count == 5 }
    #expect(
      seen.all == [
        "save gave note, failed", "save failed", "fetch failed", "load gave note, failed",
        "load failed",
      ])
  }

  @Test("hooks that throw, hang or flood do not change, delay or reorder anything")
  func harmless() async throws {
    struct Failure: Error {}
    let never = Gate()
    let box = Record<Bench<ControlledMachine>>()
    let hanging = Hook<ControlledMachine>(receiveSubscription: { _ in await never.wait() })
    let throwing = Hook<ControlledMachine>(
      receiveOutput: { _, _ in throw Failure() }, receiveCompletion: { _, _ in throw Failure() })
    let flooding = Hook<ControlledMachine>(
      stages: [.input],
      receiveRequest: { operation, input in
        guard input?.name == "flood" else { return }
        for number in 0..<500 { try await box.all.first?.send("f\(number)") }
      })
    let plain = try await Bench(ControlledMachine(effects: Self.effects))
    let bench = try await Bench(
      ControlledMachine(effects: Self.effects), hooks: [hanging, throwing, flooding])
    box.add(bench)
    let script: [ControlledMachine.Input] = ["a", "save", "fail", "load", "b"]
    for host in [plain, bench] {
      for (number, input) in script.enumerated() {
        try await host.send(input, noting: input.name)
        await host.reaches(notes: number + 1)
      }
    }
    #expect(plain.published == bench.published)
    #expect(plain.notes.all == bench.notes.all)
    // The inputs of a hook keep their order among other inputs.
    try await bench.send("flood")
    for number in 0..<100 { try await bench.send("t\(number)") }
    await bench.reaches(revision: plain.published.count - 1 + 601)
    let notes = await bench.do { $1.state.notes }
    #expect(notes.filter { $0.hasPrefix("t") } == (0..<100).map { "t\($0)" })
    #expect(
      notes.filter { $0.hasPrefix("f") && $0 != "fetched" && $0 != "flood" }
        == (0..<500).map { "f\($0)" })
    never.open()
    box.removeAll()
  }
}

extension ControlledMachine.Input: ExpressibleByStringInterpolation {}

extension Hook<ControlledMachine> {
  /// Returns a hook that records everything in the words of the trace.
  static func recordingAll(_ record: Record<String>) -> Self {
    @Sendable func add(
      _ operation: StateMachines.Operation, _ moment: TraceRecord.Moment, input: String? = nil,
      action: String? = nil, failed: Bool = false
    ) {
      record.add(
        TraceRecord(
          operation: operation, moment: moment, input: input, action: action, failed: failed,
          revision: 0
        ).words)
    }
    return Self(
      receiveSubscription: { add($0, .receiveSubscription) },
      receiveRequest: { add($0, .receiveRequest, input: $1.map(caseName(of:))) },
      receiveOutput: { operation, output in
        switch output {
        case .action(let action, let isFailure):
          add(operation, .receiveOutput, action: caseName(of: action), failed: isFailure)
        case .state:
          add(operation, .receiveOutput)
        }
      },
      receiveCompletion: { add($0, .receiveCompletion, failed: $1 == .failed) },
      receiveCancel: { add($0, .receiveCancel) })
  }

  /// Returns a hook that records the stage of everything.
  fileprivate static func stages(in record: Record<Operation.Stage>) -> Self {
    Self(
      receiveSubscription: { record.add($0.stage) },
      receiveRequest: { operation, _ in record.add(operation.stage) },
      receiveOutput: { operation, _ in record.add(operation.stage) },
      receiveCompletion: { operation, _ in record.add(operation.stage) },
      receiveCancel: { record.add($0.stage) })
  }
}
