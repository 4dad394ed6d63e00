// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

@Suite("Settled inputs")
struct SettledTests {
  @Test("an input is settled when the last of its effects has ended")
  func last() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in .several(.note("1", after: 1), .action(.note("0")), .note("2", after: 2)) }
      ]))
    let result = try #require(try await bench.send("go", noting: "go"))
    #expect(result.changed && !result.isSettled)
    await bench.advance(by: 1, sleepers: 2)
    await bench.reaches(revision: 2)
    #expect(bench.notes.all == [])
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 1)
    #expect(bench.notes.all == ["go settled at 3"])
  }

  @Test("each closure of `whenSettled` is called once, immediately if the input is settled")
  func waiters() async throws {
    let bench = try await Bench(ControlledMachine(effects: ["go": { _ in .note("1", after: 1) }]))
    let now = try #require(try await bench.send("a", noting: "a"))
    #expect(bench.notes.all == ["a settled at 1"])
    #expect(now.isSettled)
    let later = try #require(try await bench.send("go", noting: "first"))
    await bench.do { bench, store in
      store.whenSettled(later.inputID) { [notes = bench.notes] _ in notes.add("second") }
    }
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 3)
    #expect(bench.notes.all == ["a settled at 1", "first settled at 2", "second"])
  }

  @Test(
    "a refusal by an effect goes to a waiting request, otherwise an action is folded",
    arguments: [true, false])
  func refusal(hasRequest: Bool) async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          .run("work") { context in
            await context.refuse(InputRefusal(.value, "no room"), otherwise: .note("refused"))
          }
        }
      ]))
    try await bench.do { bench, store in
      let result = try #require(try store.send("go"))
      if hasRequest { store.respondsAtEnd(of: result.inputID) }
      store.whenSettled(result.inputID) { [notes = bench.notes] completion in
        notes.add(completion.refusal?.message ?? "accepted")
      }
    }
    await bench.reaches(notes: 1)
    #expect(bench.notes.all == ["no room"])
    #expect(await bench.do { $1.state.notes } == (hasRequest ? [] : ["refused"]))
  }

  @Test("an input that cancels its own work continues with its remaining effects")
  func ownWork() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          .several(
            .note("1", after: 1).latest("x"), .note("2", after: 1).latest("x"),
            .action(.note("0")))
        },
        "none": { _ in .several(.note("1", after: 1).cancellable("y"), .cancel("y")) },
      ]))
    let result = try #require(try await bench.send("go", noting: "go"))
    #expect(!result.isSettled)
    #expect(try await bench.send("none")?.isSettled == true)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.notes } == ["0", "2"])
  }

  @Test("the closure of `whenSettled` may send, cancel and close")
  func fromInside() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "wait": { _ in .note("1", after: 1).cancellable("x") },
        "cancel": { _ in .several(.cancel("x"), .action(.note("cancelled"))) },
      ]))
    try await bench.do { _, store in
      let waiting = try #require(try store.send("wait"))
      store.whenSettled(waiting.inputID) { [unowned store] _ in
        // The input with the cancellation is still being folded, so this one is queued.
        let result = try? store.send("queued")
        #expect(result == nil)
      }
      try store.send("cancel")
      #expect(store.state.notes == ["cancelled", "queued"])

      let closing = try #require(try store.send("wait"))
      store.whenSettled(closing.inputID) { [unowned store] _ in store.close() }
      try store.send("cancel")
      #expect(store.state.notes == ["cancelled", "queued"])
      #expect(throws: StoreError.closed) { try store.send("x") }
    }
  }

  @Test("input ids are never used twice")
  func inputIDs() async throws {
    let bench = try await Bench(ControlledMachine(effects: ["nothing": { _ in .none }]))
    let inputIDs = try await bench.do { _, store in
      try (0..<100).map { try #require(try store.send($0 % 2 == 0 ? "nothing" : "x")).inputID }
    }
    #expect(Set(inputIDs).count == 100)
  }
}
