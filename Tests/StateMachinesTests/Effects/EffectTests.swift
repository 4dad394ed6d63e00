// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Effects")
struct EffectTests {
  typealias Effects = [String:
    @Sendable (ControlledMachine.State) -> Effect<ControlledMachine.Action>]

  // MARK: Immediate effects

  @Test(
    "immediate effects are folded in their order, before the response",
    arguments: [
      (.none, []),
      (.action(.note("a")), ["a"]),
      (.several([]), []),
      (.several(.action(.note("a")), .none, .action(.note("b"))), ["a", "b"]),
      (.several(.several(.action(.note("a"))), .several(.action(.note("b")))), ["a", "b"]),
      (.cancel("nothing"), []),
      (.several(.cancel("nothing"), .action(.note("a"))), ["a"]),
      (.action(.note("a")).latest("x"), ["a"]),
      (.action(.note("a")).cancellable("x"), ["a"]),
    ] as [(Effect<ControlledMachine.Action>, [String])])
  func immediate(effect: Effect<ControlledMachine.Action>, expected: [String]) async throws {
    let bench = try await Bench(ControlledMachine(effects: ["go": { _ in effect }]))
    let result = try #require(try await bench.send("go"))
    #expect(result.isSettled)
    #expect(result.revision == expected.count)
    #expect(await bench.do { $1.state.notes } == expected)
  }

  @Test("an effect receives the state at the time of its input")
  func stateOfTheMoment() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: ["count": { state in .action(.note("\(state.notes.count)")) }]))
    for _ in 0..<3 { try await bench.send("count") }
    #expect(await bench.do { $1.state.notes } == ["0", "1", "2"])
  }

  // MARK: Work

  @Test("actions of several pieces of work are folded in the order in which they are sent")
  func completionOrder() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in .several(.note("slow", after: 2), .note("fast", after: 1)) }
      ]))
    let result = try #require(try await bench.send("go", noting: "go"))
    #expect(!result.isSettled && !result.changed && result.revision == 0)
    await bench.advance(by: 1, sleepers: 2)
    await bench.reaches(revision: 1)
    #expect(bench.notes.all == [])
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.notes } == ["fast", "slow"])
    #expect(bench.notes.all == ["go settled at 2"])
  }

  @Test("work sends any number of actions, and `send` returns after each was folded")
  func manyActions() async throws {
    let seen = Record<Int>()
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          .run("five") { context in
            for number in 0..<5 {
              await context.send(.note("\(number)"))
              seen.add(number)
            }
          }
        }
      ]))
    try await bench.send("go", noting: "go")
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.notes } == ["0", "1", "2", "3", "4"])
    #expect(bench.published.count == 6)
  }

  @Test("`onBegin` of work is called before any later effect begins")
  func onBegin() async throws {
    let began = Record<String>()
    let work: @Sendable (String) -> Effect<ControlledMachine.Action> = { name in
      .run(name) { _ in began.add("\(name) runs") }.onBegin { began.add(name) }
        .compactMap { $0 }
    }
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          .several(
            work("1"), .action(.note("x")), .several(work("2"), work("3")).latest("x"),
            Effect.none.onBegin { began.add("never") })
        }
      ]))
    let before = try await bench.do { _, store in
      try store.send("go")
      return began.all.filter { !$0.hasSuffix("runs") }
    }
    #expect(before == ["1", "2", "3"])
    await bench.end()
  }

  @Test("work that the host delays begins in order when permitted, unless it was cancelled")
  func held() async throws {
    let began = Record<String>()
    let work: @Sendable (String) -> Effect<ControlledMachine.Action> = { name in
      .run(name) { _ in began.add("\(name) runs") }.onBegin { began.add(name) }
        .cancellable("\(name)")
    }
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in .several(work("1"), work("2"), work("3")) },
        "stop": { _ in .cancel("2") },
      ]))
    try await bench.do { bench, store in
      let held = Held()
      store.delayWork { held.work.append($0) }
      let result = try #require(try store.send("go"))
      try store.send("stop")
      #expect(!result.isSettled && store.unfinished.isEmpty && began.all.isEmpty)
      for begin in held.work { begin() }
      // Breaks the reference cycle of the store and its closure.
      held.work = []
      #expect(began.all.filter { !$0.hasSuffix("runs") } == ["1", "3"])
      #expect(store.unfinished.count == 2)
      store.whenSettled(result.inputID) { [notes = bench.notes] _ in notes.add("settled") }
    }
    await bench.reaches(notes: 1)
    #expect(began.all.sorted() == ["1", "1 runs", "3", "3 runs"])
    // Delayed work does not begin after the store has closed.
    await bench.do { _, store in
      let held = Held()
      store.delayWork { held.work.append($0) }
      _ = try? store.send("go")
      #expect(store.close().isEmpty)
      for begin in held.work { begin() }
      // Breaks the reference cycle of the store and its closure.
      held.work = []
    }
    #expect(began.all.count == 4)
  }

  // MARK: Cancelling

  @Test("`cancel` cancels exactly the effects with its id")
  func cancelById() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "a": { _ in .note("a", after: 1).cancellable("a") },
        "b": { _ in .note("b", after: 1).cancellable("b") },
        "cancel": { _ in .several(.cancel("a"), .action(.note("cancelled"))) },
      ]))
    try await bench.send("a", noting: "a")
    try await bench.send("b", noting: "b")
    let result = try #require(try await bench.send("cancel"))
    #expect(result.isSettled)
    #expect(bench.notes.all == ["a settled at 0"])
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 2)
    #expect(await bench.do { $1.state.notes } == ["cancelled", "b"])
  }

  @Test("effect ids are compared by their bytes")
  func ids() {
    #expect(EffectID("\u{e9}") != EffectID("e\u{301}"))
    #expect(Set<EffectID>(["\u{e9}", "e\u{301}", "e\u{301}"]).count == 2)
    #expect("\(EffectID("load \(1)"))" == "load 1")
  }

  @Test("an action that work sends after it was cancelled is dropped")
  func deafWork() async throws {
    let gate = Gate()
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          .run("deaf") { context in
            // This task is not cancelled together with the work.
            await Task {
              await gate.wait()
              await context.send(.note("too late"))
            }.value
            await context.send(.note("much too late"))
            await context.becomeFeed(sending: .note("far too late"))
          }.cancellable("x")
        },
        "cancel": { _ in .cancel("x") },
      ]))
    try await bench.send("go", noting: "go")
    await eventually("the work waits at the gate") { gate.waiting == 1 }
    try await bench.send("cancel")
    #expect(bench.notes.all == ["go settled at 0"])
    gate.open()
    for task in await bench.do({ _, store in store.close() }) { await task.value }
    #expect(await bench.do { $1.state.notes } == [])
    #expect(bench.notes.all == ["go settled at 0"])
  }

  @Test("cancelling an input cancels its effects")
  func cancelByInput() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "two": { _ in .several(.note("1", after: 1), .note("2", after: 2)) },
        "other": { _ in .note("other", after: 1) },
      ]))
    let two = try #require(try await bench.send("two", noting: "two"))
    try await bench.send("other", noting: "other")
    await bench.do { _, store in
      store.cancel(two.inputID)
      store.cancel(two.inputID)
    }
    #expect(bench.notes.all == ["two settled at 0"])
    await bench.advance(by: 2, sleepers: 1)
    await bench.reaches(notes: 2)
    #expect(await bench.do { $1.state.notes } == ["other"])
  }

  // MARK: Latest

  @Test("with `latest` only the newest effect of an id gives actions")
  func latest() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "first": { _ in .note("first", after: 2).latest("load") },
        "second": { _ in .note("second", after: 1).latest("load") },
      ]))
    try await bench.send("first", noting: "first")
    try await bench.send("second", noting: "second")
    #expect(bench.notes.all == ["first settled at 0"])
    await bench.advance(by: 2, sleepers: 1)
    await bench.reaches(notes: 2)
    #expect(await bench.do { $1.state.notes } == ["second"])
    #expect(bench.notes.all == ["first settled at 0", "second settled at 1"])
  }

  @Test("effects that share one `latest` do not cancel one another")
  func latestOfSeveral() async throws {
    // Regression: the second effect cancelled the first.
    let bench = try await Bench(
      ControlledMachine(effects: [
        "old": { _ in .note("old", after: 1).cancellable("load") },
        "new": { _ in .several(.note("a", after: 1), .note("b", after: 2)).latest("load") },
      ]))
    try await bench.send("old")
    try await bench.send("new", noting: "new")
    await bench.advance(by: 2, sleepers: 2)
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.notes.sorted() } == ["a", "b"])
  }

  @Test("an immediate effect with `latest` cancels slower work")
  func latestImmediate() async throws {
    // Regression: only work cancelled earlier work.
    let bench = try await Bench(
      ControlledMachine(effects: [
        "slow": { _ in .note("slow", after: 1).latest("load") },
        "cached": { _ in .action(.note("cached")).latest("load") },
      ]))
    try await bench.send("slow", noting: "slow")
    try await bench.send("cached")
    #expect(bench.notes.all == ["slow settled at 0"])
    #expect(await bench.do { $1.state.notes } == ["cached"])
  }

  // MARK: Feeds

  @Test("a feed gives actions, and its input is settled without waiting for it")
  func feed() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "feed": { _ in
          .feed("feed") { context in
            while true {
              do { try await context.sleep(for: .seconds(1)) } catch { return }
              await context.send(.note("tick"))
            }
          }
          .unlessRunning()
        }
      ]))
    let result = try #require(try await bench.send("feed"))
    #expect(result.isSettled)
    // `unlessRunning`: a feed that runs already continues; a second one is not started.
    try await bench.send("feed")
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 1)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 2)
    // Cancelling an input cancels the effects that it waits for, but not its feeds.
    await bench.do { _, store in store.cancel(result.inputID) }
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 3)
    #expect(await bench.do { $1.state.notes } == ["tick", "tick", "tick"])
    await bench.end()
  }

  @Test("a feed that is cancelled by its id or replaced with `latest` is started again")
  func feedAgain() async throws {
    let begun = Record<Int>()
    let feed: @Sendable (ControlledMachine.State) -> Effect<ControlledMachine.Action> = { state in
      let number = state.hidden
      return .feed("feed") { context in
        begun.add(number)
        try? await context.sleep(for: .seconds(1))
      }
    }
    let bench = try await Bench(
      ControlledMachine(effects: [
        "feed": feed, "restart": { feed($0).latest("feed") }, "cancel": { _ in .cancel("feed") },
        "next": { .action(.hide($0.hidden + 1)) },
      ]))
    for name in ["feed", "next", "feed", "next", "cancel", "feed", "next", "restart"] {
      try await bench.send(.init(stringLiteral: name))
    }
    await eventually("the newest feed") { bench.clock.sleeperCount == 1 && begun.count == 3 }
    #expect(begun.all.sorted() == [0, 2, 3])
    await bench.end()
  }

  @Test("work becomes a feed after it has sent its result")
  func becomesFeed() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "load": { _ in
          .run("load") { context in
            await context.becomeFeed(sending: .note("result"))
            do { try await context.sleep(for: .seconds(1)) } catch { return }
            await context.send(.note("change"))
          }.latest("load")
        }
      ]))
    try await bench.send("load", noting: "load")
    await bench.reaches(notes: 1)
    #expect(bench.notes.all == ["load settled at 1"])
    // A new load replaces the feed.
    try await bench.send("load", noting: "again")
    await bench.reaches(notes: 2)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 3)
    #expect(await bench.do { $1.state.notes } == ["result", "result", "change"])
  }

  @Test("a feed continues until the effect that refreshes it becomes a feed")
  func refreshing() async throws {
    let load: @Sendable (String) -> Effect<ControlledMachine.Action> = { name in
      .run(name) { context in
        do {
          try await context.sleep(for: .seconds(2))
          await context.becomeFeed(sending: .note("\(name) loaded"))
          while true {
            try await context.sleep(for: .seconds(2))
            await context.send(.note(name))
          }
        } catch {}
      }.refreshing("list")
    }
    let bench = try await Bench(
      ControlledMachine(effects: [
        "a": { _ in load("a") }, "b": { _ in load("b") }, "c": { _ in load("c") },
      ]))
    try await bench.send("a", noting: "a")
    await bench.advance(by: 2, sleepers: 1)
    await bench.reaches(notes: 1)
    await bench.advance(by: 1, sleepers: 1)
    // Of two loads that run, only the newer one gives a result. The old feed continues meanwhile.
    try await bench.send("b", noting: "b")
    try await bench.send("c", noting: "c")
    await bench.advance(by: 1, sleepers: 2)
    await bench.reaches(revision: 2)
    await bench.advance(by: 1, sleepers: 2)
    await bench.reaches(notes: 3)
    await bench.advance(by: 2, sleepers: 1)
    await bench.reaches(revision: 4)
    #expect(await bench.do { $1.state.notes } == ["a loaded", "a", "c loaded", "c"])
    #expect(
      bench.notes.all == ["a settled at 1", "b settled at 1", "c settled at 3"])
    await bench.end()
  }

  // MARK: Actions of cancelled effects

  @Test(
    "the `onCancel` action of a cancelled effect is folded before its input is settled",
    arguments: ["by input", "by id", "by the latest", "as a feed", "made in one go"])
  func onCancel(how: String) async throws {
    // Regression: the completion of the input was sent before the action was folded.
    let gate = Gate()
    let wait: @Sendable (ControlledMachine.State) -> Effect<ControlledMachine.Action> = { _ in
      how == "made in one go"
        ? .run("work", id: "x", onCancel: .note("cancelled")) { _ in await gate.wait() }
        : .note("never", after: 1).latest("x").onCancel(.note("cancelled"))
    }
    let bench = try await Bench(
      ControlledMachine(effects: [
        "wait": wait, "cancel": { _ in .several(.cancel("x"), .action(.note("b"))) },
        "latest": { _ in .several(.note("2", after: 1).latest("x"), .action(.note("b"))) },
        "feed": { _ in
          .feed("x") { try? await $0.sleep(for: .seconds(1)) }.onCancel(.note("cancelled"))
        },
      ]))
    let result = try #require(
      try await bench.send(how == "as a feed" ? "feed" : "wait", noting: "wait"))
    switch how {
    case "by input": await bench.do { _, store in store.cancel(result.inputID) }
    case "by the latest": try await bench.send("latest")
    default: try await bench.send("cancel")
    }
    #expect(
      await bench.do { $1.state.notes }
        == (how == "by input" ? ["cancelled"] : ["cancelled", "b"]))
    #expect(
      bench.notes.all
        == [how == "as a feed" ? "wait settled at 0" : "wait settled at 1"])
    gate.open()
    await bench.end()
    #expect(await bench.do { $1.state.notes.filter { $0 == "cancelled" }.count } == 1)
  }

  @Test("the `onCancel` action is not folded when the effect ends by itself or the store closes")
  func notCancelled() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "wait": { _ in .note("done", after: 1).onCancel(.note("cancelled")) },
        "dropped": { _ in
          Effect<Int>.run("work") { try? await $0.sleep(for: .seconds(1)) }
            .onCancel(1).cancellable("x").compactMap { _ in nil }
        },
        "cancel": { _ in .cancel("x") },
      ]))
    try await bench.send("wait", noting: "wait")
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 1)
    try await bench.send("dropped")
    try await bench.send("cancel")
    try await bench.send("wait")
    await bench.end()
    #expect(await bench.do { $1.state.notes } == ["done"])
  }

  @Test("a cancellation from inside a publication takes effect after the publication")
  func cancelFromInside() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "wait": { _ in .note("never", after: 1).onCancel(.note("cancelled")) },
        "two": { _ in .several(.action(.note("1")), .action(.note("2"))) },
      ]))
    let notes = try await bench.do { _, store in
      let waiting = try #require(try store.send("wait"))
      _ = store.listen { [unowned store] publication in
        if publication.revision == 1 { store.cancel(waiting.inputID) }
      }
      try store.send("two")
      return store.state.notes
    }
    #expect(notes == ["1", "2", "cancelled"])
  }

  // MARK: Transformed actions

  @Test("`compactMap` transforms actions and drops those for which it returns nil")
  func compactMap() async throws {
    let numbers: Effect<Int> = .several(
      .none, .action(1), .action(2), .cancel("none"),
      .run("work") { context in
        for number in 3...6 { await context.send(number) }
        await context.becomeFeed(sending: 8)
      }.cancellable("x"))
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          numbers.compactMap { $0.isMultiple(of: 2) ? "\($0)" : nil }
            .compactMap { $0 == "4" ? nil : .note($0) }
        }
      ]))
    try await bench.send("go", noting: "go")
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.notes } == ["2", "6", "8"])
  }

  // MARK: End of the store

  @Test("closing the store cancels all work, and actions that the work still sends are dropped")
  func close() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          .several(
            .run("stubborn") { context in
              try? await context.sleep(for: .seconds(1))
              await context.send(.note("after all"))
            },
            .feed("feed") { context in try? await context.sleep(for: .seconds(1)) })
        }
      ]))
    try await bench.send("go", noting: "go")
    await eventually("the work and the feed sleep") { bench.clock.sleeperCount == 2 }
    let tasks = await bench.do { _, store in store.close() }
    #expect(tasks.count == 2)
    #expect(bench.notes.all == ["go settled at 0, closed"])
    for task in tasks { await task.value }
    #expect(bench.clock.sleeperCount == 0)
    #expect(await bench.do { $1.state.notes } == [])
    // After the end, the completion is delivered immediately.
    let completions = await bench.do { _, store in
      let said = Record<Bool>()
      store.whenSettled(InputID(rawValue: 1)) { said.add($0.wasClosed) }
      return said.all
    }
    #expect(completions == [true])
  }

  @Test("a released store cancels its work")
  func dropped() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in .several(.note("1", after: 1), .note("2", after: 1)) }
      ]))
    try await bench.send("go", noting: "go")
    await eventually("both pieces of work sleep") { bench.clock.sleeperCount == 2 }
    await bench.drop()
    await eventually("the work is cancelled") { bench.clock.sleeperCount == 0 }
    #expect(bench.notes.all == ["go settled at 0, closed"])
  }

  @Test("waiting work does not keep its host alive")
  func droppedHost() async throws {
    // Regression: each running effect held the host, and with it the store that ran it.
    var bench: Bench<ControlledMachine>? = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in .feed("feed") { context in try? await context.sleep(for: .seconds(1)) } }
      ]))
    let clock = try #require(bench?.clock)
    _ = try await bench?.send("go")
    await eventually("the feed sleeps") { clock.sleeperCount == 1 }
    bench = nil
    await eventually("the feed is cancelled") { clock.sleeperCount == 0 }
  }

  @Test("a store holds no task after thousands of inputs with work")
  func leftovers() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: ["go": { _ in .run("work") { await $0.send(.hide(1)) } }]))
    for number in 1...2_000 {
      try await bench.send("go", noting: "\(number)")
    }
    await bench.reaches(notes: 2_000)
    await eventually("the end of all tasks") { true }
    #expect(await bench.do { _, store in store.close().count } == 0)
  }
}

extension Bench {
  /// Closes the store and waits for its work.
  func end() async {
    for task in store.close() { await task.value }
  }
}

/// Work that the store has not begun yet.
private final class Held {
  var work: [() -> Void] = []
}
