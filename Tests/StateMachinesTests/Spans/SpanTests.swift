// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

/// A span whose path names its causes. It adds a note at its beginning and at its end.
private final class NotedSpan: TraceSpan {
  let path: String
  let notes: Record<String>
  private let hasEnded = Lock(false)

  init(_ path: String, _ notes: Record<String>) {
    (self.path, self.notes) = (path, notes)
    notes.add("\(path) began")
  }

  func child(_ stage: SpanStage, _ name: String) -> (any TraceSpan)? {
    hasEnded.withLock { $0 } ? nil : NotedSpan("\(path) > \(stage) \(name)", notes)
  }
  func describe(input: String) { notes.add("\(path) is \(input)") }
  func add(_ attributes: [(name: String, value: String)]) {}
  func end(_ end: OperationEnd) {
    hasEnded.withLock { $0 = true }
    notes.add("\(path) \(end)")
  }
  var headers: [(name: String, value: String)] { [("traceparent", path)] }
  func enclose(_ body: () -> Void) { CurrentSpan.$value.withValue(self, operation: body) }
  func leave(_ body: () -> Void) { CurrentSpan.$value.withValue(nil, operation: body) }
}

/// Loads that cause each other.
private struct Loads: StateMachine {
  enum Input: Codable, Sendable { case load, fail, later, saveBoth, save, watch, follow, cancel }
  enum Action: Sendable { case loaded, saved, failed, noted, cancelled }
  struct State: Codable, Sendable { var count = 0 }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .load:
      .run("load") { context in
        await context.operation("read", failing: (), when: { _ in false }) {
          await context.operation("open", failing: (), when: { _ in false }) {}
        }
        await context.send(.loaded)
      }
    case .fail:
      .run("check") { context in
        _ = await context.operation("read", failing: false, when: { !$0 }) { false }
      }
    case .save: save.serial("saves")
    case .later: save.debounced("later", for: .seconds(1))
    case .saveBoth: .several(save.serial("saves"), save.serial("saves"))
    case .watch: .ticks("watch", every: .seconds(1)) { .noted }
    case .follow:
      .run("follow") { context in
        await context.operation("first", failing: (), when: { _ in false }) {}
        await context.becomeFeed(sending: .noted)
        await context.operation("second", failing: (), when: { _ in false }) {}
        await context.send(.noted)
        try? await context.sleep(for: .seconds(1))
      }
    case .cancel: .several(.cancel("later"), .action(.cancelled))
    }
  }

  private var save: Effect<Action> { .run("save") { await $0.send(.saved) } }

  func effect(after action: Action, in state: State) -> Effect<Action> {
    if case .loaded = action { save } else { .none }
  }

  func reduce(_ state: inout State, _ action: Action) { state.count += 1 }
}

@Suite("Spans of effects")
struct SpanTests {
  private let notes = Record<String>()

  /// Sends an input within a span, and waits until it is settled.
  private func trace(
    _ input: Loads.Input, _ bench: Bench<Loads>, settles: Bool = true
  ) async throws {
    let settled = bench.notes.all.count + 1
    let span = NotedSpan("input", notes)
    await bench.do { $1.trace(in: span) }
    try await bench.send(input, noting: "done")
    await bench.do { $1.trace(in: nil) }
    if settles { await bench.reaches(notes: settled) }
  }

  @Test("an effect, its operations and the effects of its actions have the work that caused them")
  func causes() async throws {
    let bench = try await Bench(Loads())
    try await trace(.load, bench)
    let load = "input > effect load"
    let (read, save) = ("\(load) > operation read", "\(load) > effect save")
    #expect(
      notes.all.prefix(7) == [
        "input began", "input is load", "\(load) began", "\(read) began",
        "\(read) > operation open began", "\(read) > operation open finished",
        "\(read) finished",
      ])
    // The load may report its end before or after the end of the save that it has caused.
    #expect(
      Set(notes.all.dropFirst(7)) == [
        "\(load) finished", "\(save) began", "\(save) finished",
      ])
    #expect(notes.all.count == 10)
  }

  @Test("an input outside of a span has no spans, also after one that has spans")
  func untraced() async throws {
    let bench = try await Bench(Loads())
    try await bench.send(.load, noting: "done")
    await bench.reaches(notes: 1)
    #expect(notes.all == [])
    try await trace(.fail, bench)
    let count = notes.all.count
    try await bench.send(.load, noting: "done")
    await bench.reaches(notes: 3)
    #expect(notes.all.count == count)
  }

  @Test("a part that fails ends as failed")
  func failing() async throws {
    let bench = try await Bench(Loads())
    try await trace(.fail, bench)
    #expect(notes.all.contains("input > effect check > operation read failed"))
    #expect(notes.all.contains("input > effect check finished"))
  }

  @Test("an effect that waits has its input as the cause, and a cancelled wait ends")
  func waiting() async throws {
    let bench = try await Bench(Loads())
    try await trace(.later, bench, settles: false)
    try await trace(.later, bench, settles: false)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 2)
    #expect(notes.all.count { $0.hasSuffix(" cancelled") } == 1)
    #expect(notes.all.contains("input > effect save began"))
    #expect(notes.all.last?.hasSuffix("finished") == true)
    #expect(notes.all.count { $0.hasSuffix(" began") } == 2 + 2 + 1)
  }

  @Test("effects of a queue have their input as the cause, not the effect before them")
  func queues() async throws {
    let bench = try await Bench(Loads())
    try await trace(.saveBoth, bench)
    #expect(notes.all.count { $0 == "input > effect save began" } == 2)
    #expect(notes.all.count { $0 == "input > effect save finished" } == 2)
  }

  @Test("an untraced effect of a queue has no span, although the end of a traced one begins it")
  func mixedQueue() async throws {
    let bench = try await Bench(Loads())
    await bench.do { bench, store in
      store.trace(in: NotedSpan("input", notes))
      _ = try? store.send(.save)
      store.trace(in: nil)
    }
    try await bench.send(.save, noting: "done")
    await bench.reaches(notes: 1)
    #expect(notes.all.count { $0.hasSuffix("effect save began") } == 1)
  }

  @Test("work that becomes a feed ends its span, and has no spans of operations any more")
  func becomingFeed() async throws {
    let bench = try await Bench(Loads())
    try await trace(.follow, bench)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 2)
    #expect(notes.all.contains("input > effect follow > operation first finished"))
    #expect(notes.all.last == "input > effect follow finished")
    #expect(!notes.all.contains { $0.contains("second") })
  }

  @Test("the names of spans do not have the ids of elements")
  func names() {
    #expect(CurrentSpan.name(of: "load") == "load")
    #expect(CurrentSpan.name(of: "rows/ann@example.com/load") == "load")
    #expect(CurrentSpan.name(of: "rows/a/b/inner/") == "")
  }

  @Test("a feed has no span, and a cancelled effect ends as cancelled")
  func ends() async throws {
    let bench = try await Bench(Loads())
    try await trace(.watch, bench)
    #expect(notes.all == ["input began", "input is watch"])
    try await trace(.later, bench, settles: false)
    try await trace(.cancel, bench, settles: false)
    await bench.reaches(notes: 3)
    #expect(notes.all.last?.hasSuffix("cancelled") == true)
  }
}
