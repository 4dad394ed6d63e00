// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Serial effects")
struct SerialTests {
  private static let effects:
    [String: @Sendable (ControlledMachine.State) -> Effect<ControlledMachine.Action>] = [
      "slow": { _ in .note("slow", after: 3).cancellable("slow").serial("writes") },
      "fast": { _ in .note("fast", after: 1).cancellable("fast").serial("writes") },
      "two": { _ in .several(.note("one", after: 1), .note("two", after: 1)).serial("writes") },
      "other": { _ in .note("other", after: 1).serial("others") },
      "now": { _ in Effect.action(.note("now")).serial("writes") },
      "stop slow": { _ in .cancel("slow") },
      "stop fast": { _ in .cancel("fast") },
    ]

  @Test("work of one queue runs in order, and other work does not wait for it")
  func order() async throws {
    let bench = try await Bench(ControlledMachine(effects: Self.effects))
    for input in ["slow", "fast", "two", "other", "now"] as [ControlledMachine.Input] {
      try await bench.send(input, noting: input.name)
    }
    await bench.advance(by: 1, sleepers: 2)
    await bench.reaches(revision: 2)
    #expect(await bench.do { $1.state.notes } == ["now", "other"])
    await bench.advance(by: 2, sleepers: 1)
    await bench.reaches(revision: 3)
    for revision in 4...6 {
      await bench.advance(by: 1, sleepers: 1)
      await bench.reaches(revision: revision)
    }
    #expect(await bench.do { $1.state.notes } == ["now", "other", "slow", "fast", "one", "two"])
    await bench.reaches(notes: 5)
  }

  @Test("work that is cancelled while it waits never begins")
  func cancelledWaiting() async throws {
    let bench = try await Bench(ControlledMachine(effects: Self.effects))
    for input in ["slow", "fast", "two", "stop fast"] as [ControlledMachine.Input] {
      try await bench.send(input, noting: input.name)
    }
    await bench.advance(by: 3, sleepers: 1)
    await bench.reaches(revision: 1)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 2)
    #expect(await bench.do { $1.state.notes } == ["slow", "one"])
  }

  @Test("the next work begins when cancelled work has returned")
  func cancelledRunning() async throws {
    let gate = Gate()
    var effects = Self.effects
    effects["stubborn"] = { _ in
      Effect.run("stubborn") { _ in await gate.wait() }.cancellable("slow").serial("writes")
    }
    let bench = try await Bench(ControlledMachine(effects: effects))
    for input in ["stubborn", "fast", "stop slow"] as [ControlledMachine.Input] {
      try await bench.send(input, noting: input.name)
    }
    #expect(bench.notes.all.contains("stubborn settled at 0"))
    #expect(bench.clock.sleeperCount == 0)
    gate.open()
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 1)
    #expect(await bench.do { $1.state.notes } == ["fast"])
  }
}
