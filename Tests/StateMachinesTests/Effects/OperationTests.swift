// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Operations")
struct OperationTests {
  private static func note(_ note: String) -> Effect<Puppet.Action> { .action(.note(note)) }

  private static func work(_ note: String) -> Effect<Puppet.Action> {
    .run("unnamed") { await $0.send(.note(note)) }
  }

  // MARK: Names

  /// What the trace says of operations when an input is sent and has settled.
  private func seen(_ effect: Effect<Puppet.Action>) async throws -> [String] {
    let trace = Record<String>()
    let bench = try await Bench(Puppet(effects: ["go": { _ in effect }]))
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

  @Test("work is called what the operation is called, and fails if it says so")
  func work() async throws {
    for (note, isFailure) in [("a", false), ("bad", true)] {
      #expect(
        try await seen(Self.work(note).operation("load", failing: .note("bad")))
          == [
            "load began", "load asked", "load gave note\(isFailure ? ", failed" : "")",
            "load \(isFailure ? "failed" : "finished")",
          ])
    }
    // Without a name it cannot fail.
    #expect(
      try await seen(Self.work("bad")).last == "unnamed finished")
  }

  @Test("what is immediate beside work prepares it and is no part of the operation")
  func mixed() async throws {
    #expect(
      try await seen(
        .several(Self.note("preparing"), Self.work("a")).operation("load", failing: .note("bad")))
        == ["load began", "load asked", "load gave note", "load finished"])
    #expect(try await seen(Effect.cancel("x").operation("load", failing: .note("bad"))) == [])
  }

  @Test("an immediate effect that is the latest is an operation as well")
  func latestBefore() async throws {
    // Found by this test: what cancels made the rest lose the name.
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

  @Test("a name stays with what is put off, and begins when that does")
  func delays() async throws {
    let trace = Record<String>()
    let bench = try await Bench(
      Puppet(effects: [
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

  @Test("turned into other actions, it keeps its name and the action it fails with")
  func compactMap() async throws {
    let mapped = Effect<Int>.action(1).operation("load", failing: 2).compactMap {
      Puppet.Action.note("\($0)")
    }
    #expect(
      try await seen(mapped) == ["load began", "load asked", "load gave note", "load finished"])
    for effect in [
      mapped,
      Effect<Int>.run("unnamed") { await $0.send(1) }.operation("load", failing: 2)
        .compactMap { .note("\($0)") },
    ] {
      let bench = try await Bench(Puppet(effects: ["go": { _ in effect }]))
      bench.faults.inject(.fail, into: "load")
      try await bench.send("go", noting: "1")
      await bench.reaches(notes: 1)
      try await bench.send("go", noting: "2")
      await bench.reaches(notes: 2)
      #expect(await bench.do { $1.state.notes } == ["2", "1"])
    }
  }

  @Test("whose action is dropped, it still begins and ends, and can fail")
  func droppedAction() async throws {
    let dropping = Effect<Int>.action(1).operation("load", failing: 2).compactMap {
      $0 == 1 ? nil : Puppet.Action.note("\($0)")
    }
    #expect(try await seen(dropping) == ["load began", "load asked", "load finished"])
    let bench = try await Bench(Puppet(effects: ["go": { _ in dropping }]))
    bench.faults.inject(.fail, into: "load")
    try await bench.send("go", noting: "1")
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.notes } == ["2"])
  }

  // MARK: Faults

  /// An operation named "op" that gives "done", in one of its forms.
  private static func operation(_ form: String) -> Effect<Puppet.Action> {
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

  private func bench(_ form: String) async throws -> Bench<Puppet> {
    try await Bench(
      Puppet(effects: [
        "go": { _ in
          Self.operation(form).cancellable("x").onCancel(.note("cancelled"))
        },
        "cancel": { _ in .cancel("x") },
      ]))
  }

  static let forms = ["immediate", "latest", "work", "in one go", "part"]

  @Test("an operation fails as often as it should, and only that one", arguments: forms)
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

  @Test("a delayed operation is carried out that much later", arguments: forms)
  func delay(form: String) async throws {
    let bench = try await bench(form)
    bench.faults.inject(.delay(.seconds(3)), into: "op")
    let receipt = try #require(try await bench.send("go", noting: "go"))
    #expect(!receipt.isSettled)
    await bench.advance(by: 2, sleepers: 1)
    #expect(await bench.do { $1.state.notes } == [])
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 1)
    #expect(bench.notes.all == ["go settled at 1"])
    #expect(await bench.do { $1.state.notes } == ["done"])
  }

  @Test(
    "one that is delayed or hangs ends when it is cancelled, and is never carried out",
    arguments: forms, [Fault.delay(.seconds(3)), .hang])
  func cancelled(form: String, fault: Fault) async throws {
    let bench = try await bench(form)
    bench.faults.inject(fault, into: "op", times: 2)
    try await bench.send("go", noting: "go")
    try await bench.send("cancel")
    #expect(bench.notes.all == ["go settled at 1"])
    let receipt = try #require(try await bench.send("go", noting: "again"))
    await bench.do { _, store in store.cancel(receipt.inputID) }
    #expect(bench.notes.all.last == "again settled at 2")
    // One that was cancelled before it began has met no fault, which is not for the third.
    while bench.faults.take("op") != nil {}
    try await bench.send("go", noting: "third")
    await bench.reaches(notes: 3)
    await bench.end()
    #expect(await bench.do { $1.state.notes } == ["cancelled", "cancelled", "done"])
  }

  @Test("one that hangs never ends by itself, but with its store it does", arguments: forms)
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

  @Test("an operation that drops the connection is carried out, and says so once", arguments: forms)
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

  @Test("faults are met in the order in which they were injected, by the bytes of the name")
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
  /// In words, without numbers and revision.
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
