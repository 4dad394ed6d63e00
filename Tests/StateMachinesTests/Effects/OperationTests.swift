// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Operations")
struct OperationTests {
  private static func note(_ note: String) -> Effect<ControlledMachine.Action> {
    .action(.note(note))
  }

  private static func work(_ note: String) -> Effect<ControlledMachine.Action> {
    .run("unnamed") { await $0.send(.note(note)) }
  }

  // MARK: Names

  /// Sends an input with this effect and returns what the trace shows of its operations.
  private func seen(_ effect: Effect<ControlledMachine.Action>) async throws -> [String] {
    let trace = Record<String>()
    let bench = try await Bench(ControlledMachine(effects: ["go": { _ in effect }]))
    await bench.do { _, store in
      store.trace { record in
        guard [.operation, .part].contains(record.operation.stage) else { return }
        trace.add(record.words)
      }
    }
    try await bench.send("go", noting: "go")
    await bench.reaches(notes: 1)
    await bench.do { _, store in store.trace(nil) }
    await bench.end()
    return trace.all
  }

  @Test("an immediate effect is one operation with all its actions")
  func immediate() async throws {
    #expect(
      try await seen(
        .several(Self.note("a"), .none, Self.note("b")).operation("save", failing: .note("bad")))
        == ["save began", "save asked", "save gave note", "save gave note", "save finished"])
    #expect(
      try await seen(
        .several(Self.note("a"), Self.note("bad")).operation("save", failing: .note("bad")))
        == [
          "save began", "save asked", "save gave note", "save gave note, failed", "save failed",
        ])
  }

  @Test("work has the name of its operation, and fails when it gives a failure action")
  func work() async throws {
    for (note, isFailure) in [("a", false), ("bad", true)] {
      #expect(
        try await seen(Self.work(note).operation("load", failing: .note("bad")))
          == [
            "load began", "load asked", "load gave note\(isFailure ? ", failed" : "")",
            "load \(isFailure ? "failed" : "finished")",
          ])
    }
    // Work without a name cannot fail.
    #expect(
      try await seen(Self.work("bad")).last == "unnamed finished")
  }

  @Test("an immediate effect next to work is not part of the operation")
  func mixed() async throws {
    #expect(
      try await seen(
        .several(Self.note("preparing"), Self.work("a")).operation("load", failing: .note("bad")))
        == ["load began", "load asked", "load gave note", "load finished"])
    #expect(try await seen(Effect.cancel("x").operation("load", failing: .note("bad"))) == [])
  }

  @Test("an immediate effect with `latest` is an operation too")
  func latestBefore() async throws {
    // Regression: with a cancelling effect, the other effects lost their name.
    for effect in [
      Self.note("a").latest("x").operation("load", failing: .note("bad")),
      Self.note("a").operation("load", failing: .note("bad")).latest("x"),
      Self.note("a").latest("x").latest("y").operation("load", failing: .note("bad")),
      Self.note("a").operation("load", failing: .note("bad")).refreshing("x").cancellable("y"),
    ] {
      #expect(
        try await seen(effect)
          == ["load began", "load asked", "load gave note", "load finished"])
    }
  }

  @Test("a postponed operation keeps its name and begins after the wait")
  func delays() async throws {
    let trace = Record<String>()
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          .after(.seconds(1), Self.note("a")).operation("load", failing: .note("bad"))
        },
        "deferred": { _ in
          Effect.deferred { _ in Self.note("a") }.operation("load", failing: .note("bad"))
        },
      ]))
    await bench.do { _, store in
      store.trace { if $0.operation.name == "load" { trace.add($0.words) } }
    }
    try await bench.send("go", noting: "go")
    #expect(trace.all == [])
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 1)
    #expect(trace.all == ["load began", "load asked", "load gave note", "load finished"])
    trace.removeAll()
    #expect(try await bench.send("deferred")?.isSettled == true)
    #expect(trace.all == ["load began", "load asked", "load gave note", "load finished"])
    await bench.end()
  }

  @Test("`compactMap` keeps the name and the failure action of an operation")
  func compactMap() async throws {
    let mapped = Effect<Int>.action(1).operation("load", failing: 2).compactMap {
      ControlledMachine.Action.note("\($0)")
    }
    #expect(
      try await seen(mapped) == ["load began", "load asked", "load gave note", "load finished"])
    for effect in [
      mapped,
      Effect<Int>.run("unnamed") { await $0.send(1) }.operation("load", failing: 2)
        .compactMap { .note("\($0)") },
    ] {
      let bench = try await Bench(ControlledMachine(effects: ["go": { _ in effect }]))
      bench.faults.inject(.fail, into: "load")
      try await bench.send("go", noting: "1")
      await bench.reaches(notes: 1)
      try await bench.send("go", noting: "2")
      await bench.reaches(notes: 2)
      #expect(await bench.do { $1.state.notes } == ["2", "1"])
    }
  }

  @Test("an operation whose action is dropped still begins, ends and can fail")
  func droppedAction() async throws {
    let dropping = Effect<Int>.action(1).operation("load", failing: 2).compactMap {
      $0 == 1 ? nil : ControlledMachine.Action.note("\($0)")
    }
    #expect(try await seen(dropping) == ["load began", "load asked", "load finished"])
    let bench = try await Bench(ControlledMachine(effects: ["go": { _ in dropping }]))
    bench.faults.inject(.fail, into: "load")
    try await bench.send("go", noting: "1")
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.notes } == ["2"])
  }

  // MARK: Faults

  /// Returns an operation named "op" that gives "done", in one of five forms.
  private static func operation(_ form: String) -> Effect<ControlledMachine.Action> {
    switch form {
    case "immediate": note("done").operation("op", failing: .note("failed"))
    case "latest": note("done").latest("l").operation("op", failing: .note("failed"))
    case "work": work("done").operation("op", failing: .note("failed"))
    case "in one go":
      .run("op", failing: Failing(failure: .note("failed")) { $0 == .note("failed") }) {
        await $0.send(.note("done"))
      }
    default:
      .run("work") { context in
        let outcome = await context.operation(
          "op", failing: "failed", when: { $0 == "failed" }
        ) { "done" }
        if !Task.isCancelled { await context.send(.note(outcome)) }
      }
    }
  }

  private func bench(_ form: String) async throws -> Bench<ControlledMachine> {
    try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          Self.operation(form).cancellable("x").onCancel(.note("cancelled"))
        },
        "cancel": { _ in .cancel("x") },
      ]))
  }

  static let forms = ["immediate", "latest", "work", "in one go", "part"]

  @Test(
    "an operation fails as often as the fault was injected; other operations do not",
    arguments: forms)
  func fail(form: String) async throws {
    let bench = try await bench(form)
    bench.faults.inject(.fail, into: "other")
    bench.faults.inject(.fail, into: "op", times: 2)
    for number in 1...3 {
      try await bench.send("go", noting: "\(number)")
      await bench.reaches(notes: number)
    }
    #expect(await bench.do { $1.state.notes } == ["failed", "failed", "done"])
  }

  @Test("a delayed operation is performed after the delay", arguments: forms)
  func delay(form: String) async throws {
    let bench = try await bench(form)
    bench.faults.inject(.delay(.seconds(3)), into: "op")
    let result = try #require(try await bench.send("go", noting: "go"))
    #expect(!result.isSettled)
    await bench.advance(by: 2, sleepers: 1)
    #expect(await bench.do { $1.state.notes } == [])
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 1)
    #expect(bench.notes.all == ["go settled at 1"])
    #expect(await bench.do { $1.state.notes } == ["done"])
  }

  @Test(
    "an operation that is delayed or hangs is not performed after it was cancelled",
    arguments: forms, [Fault.delay(.seconds(3)), .hang])
  func cancelled(form: String, fault: Fault) async throws {
    let bench = try await bench(form)
    bench.faults.inject(fault, into: "op", times: 2)
    try await bench.send("go", noting: "go")
    try await bench.send("cancel")
    #expect(bench.notes.all == ["go settled at 1"])
    let result = try #require(try await bench.send("go", noting: "again"))
    await bench.do { _, store in store.cancel(result.inputID) }
    #expect(bench.notes.all.last == "again settled at 2")
    // An operation that was cancelled before it began has used no fault. Remove the remaining
    // fault.
    while bench.faults.take("op") != nil {}
    try await bench.send("go", noting: "third")
    await bench.reaches(notes: 3)
    await bench.end()
    #expect(await bench.do { $1.state.notes } == ["cancelled", "cancelled", "done"])
  }

  @Test("an operation that hangs ends only when its store closes", arguments: forms)
  func hang(form: String) async throws {
    let bench = try await bench(form)
    bench.faults.inject(.hang, into: "op")
    try await bench.send("go", noting: "go")
    bench.clock.advance(to: .init(offset: .seconds(100_000)))
    try await bench.send("go", noting: "next")
    await bench.reaches(notes: 1)
    #expect(bench.notes.all.first?.hasPrefix("next settled at 1") == true)
    await bench.end()
    #expect(bench.notes.all.last == "go settled at 1, closed")
  }

  @Test(
    "with a `dropConnection` fault the operation is performed and one drop is reported",
    arguments: forms)
  func drop(form: String) async throws {
    let bench = try await bench(form)
    bench.faults.inject(.dropConnection, into: "op", times: 2)
    #expect(bench.faults.takeDrops() == 0)
    for number in 1...3 {
      try await bench.send("go", noting: "\(number)")
      await bench.reaches(notes: number)
    }
    #expect(bench.faults.takeDrops() == 2)
    #expect(bench.faults.takeDrops() == 0)
    #expect(await bench.do { $1.state.notes } == ["done", "done", "done"])
  }

  @Test("faults apply in the order in which they were injected; names are compared by bytes")
  func order() {
    let faults = Faults()
    faults.inject(.fail, into: "e\u{301}")
    faults.inject(.hang, into: "\u{e9}")
    faults.inject(.delay(.seconds(1)), into: "\u{e9}", times: 2)
    #expect(faults.take("\u{e9}") == .hang)
    #expect(faults.take("\u{e9}") == .delay(.seconds(1)))
    #expect(faults.take("e\u{301}") == .fail)
    #expect(faults.take("\u{e9}") == .delay(.seconds(1)))
    #expect(faults.take("\u{e9}") == nil)
  }
}

extension TraceRecord {
  /// The record in words, without numbers and revision.
  var words: String {
    let name = operation.name
    return switch moment {
    case .receiveSubscription: "\(name) began"
    case .receiveRequest: "\(name) asked\(input.map { ", \($0)" } ?? "")"
    case .receiveOutput: "\(name) gave \(action ?? "a state")\(failed ? ", failed" : "")"
    case .receiveCompletion: "\(name) \(failed ? "failed" : "finished")"
    case .receiveCancel: "\(name) cancelled"
    }
  }
}
