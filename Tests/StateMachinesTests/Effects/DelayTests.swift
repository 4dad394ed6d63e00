// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Delays")
struct DelayTests {
  typealias Effects = [String:
    @Sendable (ControlledMachine.State) -> Effect<ControlledMachine.Action>]

  private static func note(_ note: String) -> Effect<ControlledMachine.Action> {
    .action(.note(note))
  }

  /// Waits until the state has these notes.
  private func shows(_ notes: [String], _ bench: Bench<ControlledMachine>) async {
    await bench.reaches(revision: notes.count)
    #expect(await bench.do { $1.state.notes } == notes)
  }

  // MARK: after

  @Test("an effect is performed after its wait, and its input is settled when the effect ends")
  func after() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "action": { _ in .after(.seconds(1), Self.note("a")) },
        "work": { _ in .after(.seconds(1), .note("b", after: 1)) },
        "twice": { _ in .after(.seconds(1), .after(.seconds(1), Self.note("c"))) },
        "nothing": { _ in .after(.zero, .none) },
      ]))
    let result = try #require(try await bench.send("action", noting: "action"))
    #expect(!result.isSettled && !result.changed)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 1)
    #expect(bench.notes.all == ["action settled at 1"])
    try await bench.send("work", noting: "work")
    await bench.advance(by: 1, sleepers: 1)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 2)
    try await bench.send("twice", noting: "twice")
    await bench.advance(by: 1, sleepers: 1)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 3)
    try await bench.send("nothing", noting: "nothing")
    await bench.reaches(notes: 4)
    #expect(
      bench.notes.all.dropFirst() == [
        "work settled at 2", "twice settled at 3", "nothing settled at 3",
      ])
  }

  @Test(
    "an id of the whole effect cancels the wait and the effect that follows it", arguments: [0, 1])
  func afterCancelled(passed: Int) async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in .after(.seconds(1), .note("never", after: 1)).latest("x") },
        "cancel": { _ in .cancel("x") },
      ]))
    try await bench.send("go", noting: "go")
    if passed > 0 {
      await bench.advance(by: 1, sleepers: 1)
      await eventually("the work sleeps") { bench.clock.sleeperCount == 1 }
    }
    try await bench.send("cancel")
    #expect(bench.notes.all == ["go settled at 0"])
    await bench.end()
    #expect(await bench.do { $1.state.notes } == [])
  }

  @Test("when its input is cancelled, a wait ends and its `onCancel` action is folded")
  func afterCancelledInput() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in .after(.seconds(1), Self.note("never")).onCancel(.note("cancelled")) }
      ]))
    let result = try #require(try await bench.send("go", noting: "go"))
    await bench.do { _, store in store.cancel(result.inputID) }
    #expect(bench.notes.all == ["go settled at 1"])
    #expect(await bench.do { $1.state.notes } == ["cancelled"])
    await bench.end()
  }

  @Test("a deferred effect is made when it is performed")
  func deferred() async throws {
    let late: Effect<ControlledMachine.Action> = .deferred { Self.note("\($0.uptime)") }
    let bench = try await Bench(
      ControlledMachine(effects: [
        "now": { _ in late },
        "later": { _ in .after(.seconds(2), late) },
        "work": { _ in .deferred { _ in .note("work", after: 1) }.latest("x") },
        "mapped": { _ in
          Effect<Int>.deferred { _ in .several(.action(1), .action(2)) }
            .compactMap { $0 == 1 ? nil : .note("\($0)") }
        },
        "cancel": { _ in .cancel("x") },
      ]))
    let result = try #require(try await bench.send("now"))
    #expect(result.isSettled && result.changed)
    try await bench.send("later", noting: "later")
    await bench.advance(by: 2, sleepers: 1)
    await bench.reaches(notes: 1)
    try await bench.send("work", noting: "work")
    try await bench.send("cancel")
    #expect(try await bench.send("mapped")?.isSettled == true)
    #expect(await bench.do { $1.state.notes } == ["0.0 seconds", "2.0 seconds", "2"])
    await bench.end()
  }

  // MARK: debounced

  private static let typing: Effects = [
    "a": { _ in note("a").debounced("w", for: .seconds(2)) },
    "b": { _ in note("b").debounced("w", for: .seconds(2)) },
    "other": { _ in note("other").debounced("v", for: .seconds(2)) },
    "cancel": { _ in .cancel("w") },
  ]

  @Test(
    "a newer debounced effect replaces the one that waits, and the input of that one is settled")
  func debounced() async throws {
    let bench = try await Bench(ControlledMachine(effects: Self.typing))
    try await bench.send("a", noting: "a")
    await bench.advance(by: 1, sleepers: 1)
    try await bench.send("b", noting: "b")
    try await bench.send("other", noting: "other")
    #expect(bench.notes.all == ["a settled at 0"])
    await bench.advance(by: 1, sleepers: 2)
    #expect(await bench.do { $1.state.notes } == [])
    await bench.advance(by: 1, sleepers: 2)
    await bench.reaches(notes: 3)
    #expect(await bench.do { $1.state.notes.sorted() } == ["b", "other"])
  }

  @Test("a debounced effect that waits is cancelled by its window id or with its input")
  func debouncedCancelled() async throws {
    let bench = try await Bench(ControlledMachine(effects: Self.typing))
    try await bench.send("a", noting: "a")
    try await bench.send("cancel")
    let result = try #require(try await bench.send("b", noting: "b"))
    await bench.do { _, store in store.cancel(result.inputID) }
    #expect(bench.notes.all == ["a settled at 0", "b settled at 0"])
    await bench.end()
    #expect(await bench.do { $1.state.notes } == [])
  }

  @Test("a debounced effect that has begun continues when a newer one arrives")
  func debouncedRunning() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "slow": { _ in .note("slow", after: 5).debounced("w", for: .seconds(1)) },
        "next": { _ in Self.note("next").debounced("w", for: .seconds(1)) },
      ]))
    try await bench.send("slow", noting: "slow")
    await bench.advance(by: 1, sleepers: 1)
    await eventually("the work sleeps") { bench.clock.sleeperCount == 1 }
    try await bench.send("next", noting: "next")
    await bench.advance(by: 1, sleepers: 2)
    await bench.reaches(notes: 1)
    await bench.advance(by: 4, sleepers: 1)
    await bench.reaches(notes: 2)
    #expect(await bench.do { $1.state.notes } == ["next", "slow"])
  }

  @Test("with `firstImmediately` the first effect is performed immediately; later ones wait")
  func firstImmediately() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { state in
          Self.note("\(state.notes.count)")
            .debounced("w", for: .seconds(1), firstImmediately: true)
        }
      ]))
    let first = try #require(try await bench.send("go"))
    #expect(first.isSettled && first.changed)
    let second = try #require(try await bench.send("go", noting: "second"))
    #expect(!second.isSettled)
    try await bench.send("go", noting: "third")
    #expect(bench.notes.all == ["second settled at 1"])
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 2)
    #expect(await bench.do { $1.state.notes } == ["0", "1"])
    // The window is closed.
    #expect(try await bench.send("go")?.changed == true)
    await bench.end()
  }

  // MARK: throttled

  private static func throttled(_ throttling: Throttling) -> Effects {
    let effects: Effects = [
      "a": { _ in note("a").throttled("w", for: .seconds(1), keeping: throttling) },
      "b": { _ in note("b").throttled("w", for: .seconds(1), keeping: throttling) },
      "c": { _ in note("c").throttled("w", for: .seconds(1), keeping: throttling) },
      "named": { _ in
        note("named").throttled("w", for: .seconds(1), keeping: throttling).cancellable("x")
          .onCancel(.note("dropped"))
      },
      "cancel": { _ in .cancel("w") },
      "cancel x": { _ in .cancel("x") },
    ]
    return effects
  }

  @Test("a throttled effect is performed immediately, and later ones in its window are dropped")
  func throttledFirst() async throws {
    let bench = try await Bench(ControlledMachine(effects: Self.throttled(.first)))
    #expect(try await bench.send("a")?.isSettled == true)
    // The effect is dropped, so its input is settled.
    let dropped = try #require(try await bench.send("b"))
    #expect(dropped.isSettled && !dropped.changed)
    await bench.advance(by: 1, sleepers: 1)
    await eventually("the end of the window") { bench.clock.sleeperCount == 0 }
    await eventually("the end of the work") { await bench.do { _, store in store.isIdle } }
    #expect(try await bench.send("c")?.changed == true)
    #expect(await bench.do { $1.state.notes } == ["a", "c"])
    await bench.end()
  }

  @Test(
    "with `latest` the newest effect in a window is performed at its end and opens a new window")
  func throttledLatest() async throws {
    let bench = try await Bench(ControlledMachine(effects: Self.throttled(.latest)))
    try await bench.send("a")
    try await bench.send("b", noting: "b")
    try await bench.send("c", noting: "c")
    #expect(bench.notes.all == ["b settled at 1"])
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 2)
    #expect(bench.notes.all == ["b settled at 1", "c settled at 2"])
    let inside = try #require(try await bench.send("b", noting: "again"))
    #expect(!inside.isSettled)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 3)
    #expect(await bench.do { $1.state.notes } == ["a", "c", "b"])
    await bench.end()
  }

  @Test(
    "a throttled effect that waits is dropped with its window, by its id or with its input",
    arguments: ["window", "name", "input", "close"])
  func throttledCancelled(how: String) async throws {
    // Regression: the id of an effect that waited for another effect's window did not cancel it,
    // and its `onCancel` action was not folded.
    let bench = try await Bench(ControlledMachine(effects: Self.throttled(.latest)))
    try await bench.send("a")
    let result = try #require(try await bench.send("named", noting: "named"))
    switch how {
    case "window": try await bench.send("cancel")
    case "name": try await bench.send("cancel x")
    case "input": await bench.do { _, store in store.cancel(result.inputID) }
    default: await bench.end()
    }
    if how == "close" {
      #expect(bench.notes.all == ["named settled at 1, closed"])
      #expect(await bench.do { $1.state.notes } == ["a"])
    } else {
      #expect(bench.notes.all == ["named settled at 2"])
      #expect(await bench.do { $1.state.notes } == ["a", "dropped"])
      // Only the id of the window closes it.
      #expect(try await bench.send("b")?.changed == (how == "window"))
      await bench.end()
    }
  }

  @Test("cancelling the input that opened a window does not close the window")
  func windowInput() async throws {
    let bench = try await Bench(ControlledMachine(effects: Self.throttled(.first)))
    let result = try #require(try await bench.send("a"))
    await bench.do { _, store in store.cancel(result.inputID) }
    #expect(try await bench.send("b")?.changed == false)
    await bench.end()
  }

  @Test(
    "postponed effects that restore the state have changed nothing, whatever was published before")
  func changedBack() async throws {
    let several = Effect.several(.action(2), .action(1))
    let bench = try await Bench(
      Setter(effects: [
        "debounced": .action(0).debounced("d", for: .seconds(1)).onCancel(5),
        "throttled": .action(1).throttled("t", for: .seconds(1), keeping: .latest),
        "several": several.throttled("t", for: .seconds(1), keeping: .latest),
      ]))
    func send(_ input: String) async throws -> StateMark {
      try #require(try await bench.send(input)).base
    }
    // The wait that is replaced sets 5, and the new one sets 0 again.
    _ = try await send("debounced")
    let replacing = try await send("debounced")
    #expect(await bench.do { $1.hasChanged(since: replacing) })
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 2)
    #expect(await !bench.do { $1.hasChanged(since: replacing) })

    // The window ends with two publications.
    _ = try await send("throttled")
    let waiting = try await send("several")
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 5)
    #expect(await !bench.do { $1.hasChanged(since: waiting) })
    await bench.end()
  }

  /// A number that the effects of its inputs set.
  private struct Setter: StateMachine {
    let initialState = 0
    let effects: [String: Effect<Int>]
    func effect(of input: String, in state: Int) -> Effect<Int> { effects[input] ?? .none }
    func reduce(_ state: inout Int, _ action: Int) { state = action }
  }

  @Test("`compactMap` transforms the actions of postponed effects")
  func compactMap() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          let numbers: Effect<Int> = .several(
            .after(.seconds(1), .action(1)),
            Effect<Int>.action(2).debounced("d", for: .seconds(1)),
            Effect<Int>.action(3).throttled("t", for: .seconds(1), keeping: .latest))
          return numbers.compactMap { .note("\($0)") }
        }
      ]))
    try await bench.send("go", noting: "go")
    #expect(await bench.do { $1.state.notes } == ["3"])
    await bench.advance(by: 1, sleepers: 3)
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.notes.sorted() } == ["1", "2", "3"])
  }

  @Test("the store does not perform postponed effects after it closes")
  func close() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          .several(
            .after(.seconds(1), Self.note("1")),
            Self.note("2").debounced("d", for: .seconds(1)),
            Self.note("3").throttled("t", for: .seconds(1), keeping: .latest))
        }
      ]))
    try await bench.send("go", noting: "first")
    try await bench.send("go", noting: "second")
    await eventually("four waits") { bench.clock.sleeperCount == 4 }
    await bench.end()
    #expect(bench.clock.sleeperCount == 0)
    #expect(await bench.do { $1.state.notes } == ["3"])
    #expect(
      Set(bench.notes.all) == ["first settled at 1, closed", "second settled at 1, closed"])
  }

  // MARK: ticks and merge

  @Test("ticks come after each interval, and their input is settled without waiting for them")
  func ticks() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in .ticks("t", every: .seconds(2)) { .note("tick") }.unlessRunning() },
        "stop": { _ in .cancel("t") },
      ]))
    #expect(try await bench.send("go")?.isSettled == true)
    // The feed runs already; a second one is not started.
    try await bench.send("go")
    for count in 1...3 {
      await bench.advance(by: 2, sleepers: 1)
      await bench.reaches(revision: count)
    }
    try await bench.send("stop")
    await eventually("the feed is cancelled") { bench.clock.sleeperCount == 0 }
    await bench.end()
    #expect(await bench.do { $1.state.notes } == ["tick", "tick", "tick"])
  }

  @Test("a merged sequence is read until it ends or is cancelled")
  func merge() async throws {
    let (numbers, more) = AsyncStream.makeStream(of: Int.self)
    let ended = Gate()
    more.onTermination = { _ in ended.open() }
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          .merge("m", numbers) { $0.isMultiple(of: 2) ? .note("\($0)") : nil }
        },
        "stop": { _ in .cancel("m") },
      ]))
    for number in 0..<4 { more.yield(number) }
    #expect(try await bench.send("go")?.isSettled == true)
    await bench.reaches(revision: 2)
    more.yield(6)
    await bench.reaches(revision: 3)
    try await bench.send("stop")
    await ended.wait()
    await bench.end()
    #expect(await bench.do { $1.state.notes } == ["0", "2", "6"])
  }
}
