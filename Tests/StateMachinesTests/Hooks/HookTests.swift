// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Hooks")
struct HookTests {
  typealias Hook = StateMachines.Hook<ControlledMachine>

  @Test("a hook sees an input from its beginning to its end")
  func input() async throws {
    let seen = Record<String>()
    let bench = try await Bench(
      ControlledMachine(effects: [
        "two": { _ in .several(.action(.note("a")), .action(.note("b"))) }
      ]),
      hooks: [.recording(seen)])
    try await bench.send("two")
    try await bench.send("x")
    await eventually("nine calls for two inputs") { seen.count == 9 }
    #expect(
      seen.all == [
        "input 1 began", "input 1 two", "input 1 gave a", "input 1 gave b", "input 1 completed",
        "input 2 began", "input 2 x", "input 2 gave x", "input 2 completed",
      ])
  }

  @Test("a hook sees work from beginning to end; the input ends with its last work")
  func work() async throws {
    let seen = Record<String>()
    let bench = try await Bench(
      ControlledMachine(effects: [
        "load": { _ in .run("load") { await $0.send(.note("a")) } },
        "wait": { _ in .note("wait", after: 1).cancellable("x") },
        "cancel": { _ in .cancel("x") },
      ]), hooks: [.recording(seen)])
    try await bench.send("load", noting: "load")
    await bench.reaches(notes: 1)
    await eventually("seven calls for an input with work") { seen.count == 7 }
    #expect(
      seen.all == [
        "input 1 began", "input 1 load", "load 1 began", "load 1 nil", "load 1 gave a",
        "load 1 completed", "input 1 completed",
      ])
    try await bench.send("wait")
    try await bench.send("cancel")
    await eventually("nine more calls after the cancellation") { seen.count == 16 }
    #expect(
      seen.all.dropFirst(7) == [
        "input 2 began", "input 2 wait", "wait 2 began", "wait 2 nil",
        "input 3 began", "input 3 cancel", "wait 2 cancelled", "input 2 cancelled",
        "input 3 completed",
      ])
  }

  @Test(
    "a hook sees exactly one end of each operation, and nothing after it",
    arguments: ["run", "latest", "own", "feed", "close", "close inside", "drop", "all"])
  func pairing(what: String) async throws {
    // Regression: an input that cancelled its own work ended twice, and in a released store no
    // operation ended.
    let seen = Record<String>()
    var bench: Bench<ControlledMachine>? = try await Bench(
      ControlledMachine(effects: [
        "run": { _ in .several(.note("1", after: 1), .action(.note("0")), .note("2", after: 2)) },
        "latest": { _ in .note("l", after: 1).latest("x") },
        "own": { _ in
          .several(.note("1", after: 1).cancellable("y"), .cancel("y"), .note("2", after: 1))
        },
        "own and no more": { _ in .several(.note("1", after: 1).cancellable("y"), .cancel("y")) },
        "feed": { _ in .feed("feed") { try? await $0.sleep(for: .seconds(9)) } },
        "cancel": { _ in .several(.cancel("x"), .cancel("y"), .cancel("feed")) },
        "close": { _ in .several(.action(.note("close")), .note("never", after: 1)) },
      ]), hooks: [.recording(seen)])
    await bench?.do { _, store in
      _ = store.listen { [unowned store] publication in
        if what == "close inside", store.state.notes.last == "close" { store.close() }
      }
    }
    let script: [ControlledMachine.Input] =
      switch what {
      case "run": ["run", "run"]
      case "latest": ["latest", "latest", "run", "latest"]
      case "own": ["own", "own", "own and no more"]
      case "feed": ["feed", "feed", "cancel", "feed"]
      case "close", "drop": ["run", "feed"]
      case "close inside": ["run", "feed", "close"]
      default: ["run", "own", "feed", "latest", "cancel", "latest", "own and no more", "run"]
      }
    for input in script { _ = try await bench?.send(input) }
    if what != "drop" {
      let clock = bench?.clock
      clock?.advance(to: .init(offset: .seconds(3)))
      await bench?.end()
    }
    bench = nil
    let began = { seen.all.filter { $0.hasSuffix("began") }.count }
    let ended = { seen.all.filter { $0.hasSuffix("completed") || $0.hasSuffix("cancelled") }.count }
    await eventually("an end for each beginning in \(seen.all)") {
      began() >= script.count && began() == ended()
    }

    var open: Set<String> = []
    for line in seen.all {
      let words = line.split(separator: " ")
      let operation = words[0...1].joined(separator: " ")
      switch words[2] {
      case "began": #expect(open.insert(operation).inserted, "\(line)")
      case "completed", "cancelled":
        #expect(open.remove(operation) != nil, "\(line) in \(seen.all)")
      default: #expect(open.contains(operation), "\(line)")
      }
    }
    #expect(open.isEmpty)
  }

  @Test("an error that a hook throws is passed to `failed` and changes nothing")
  func throwing() async throws {
    struct Failure: Error {}
    let failed = Record<String>()
    let seen = Record<String>()
    let throwing = Hook(
      receiveSubscription: { _ in throw Failure() }, receiveRequest: { _, _ in throw Failure() },
      receiveOutput: { _, _ in throw Failure() }, receiveCompletion: { _, _ in throw Failure() },
      receiveCancel: { _ in throw Failure() }, failed: { failed.add("\($0)") })
    let bench = try await Bench(
      ControlledMachine(effects: [
        "wait": { _ in .note("wait", after: 1).cancellable("x") }, "cancel": { _ in .cancel("x") },
      ]), hooks: [throwing, .recording(seen)])
    for input: ControlledMachine.Input in ["a", "wait", "cancel", "b"] {
      try await bench.send(input)
    }
    // The hook is also called for the store's actions and states: two beginnings, two outputs each.
    await eventually("a failure for each call") { failed.count == 17 + 8 && seen.count == 17 }
    #expect(await bench.do { $1.state.notes } == ["a", "b"])
  }

  @Test("a hook that hangs delays neither the store nor other hooks, and its queue is bounded")
  func hanging() async throws {
    // Regression: a full queue lost the ends of operations whose beginnings it had.
    let gate = Gate()
    let slow = Record<String>()
    let seen = Record<String>()
    let hanging = Hook(
      receiveSubscription: { operation in
        await gate.wait()
        guard operation.stage == .input else { return }
        slow.add("\(operation.name) \(operation.number) began")
      },
      receiveCompletion: { operation, _ in
        guard operation.stage == .input else { return }
        slow.add("\(operation.name) \(operation.number) completed")
      })
    let bench = try await Bench(
      ControlledMachine(effects: ["hide": { .action(.hide($0.hidden + 1)) }]),
      hooks: [hanging, Hook(), .recording(seen)])
    for number in 0..<3_000 {
      try await bench.send("hide")
      // The other hook keeps up.
      if number.isMultiple(of: 100) {
        await eventually("the hook that keeps up") { seen.count == (number + 1) * 3 }
      }
    }
    await eventually("the hook that keeps up") { seen.count == 9_000 }
    #expect(await bench.do { $1.state.hidden } == 3_000)
    #expect(slow.all == [])
    gate.open()
    let began = { slow.all.filter { $0.hasSuffix("began") }.count }
    // The queue holds 1,024 calls, two for each input; the hook gets no more.
    await eventually("the queued calls") {
      began() >= 510 && slow.count == 2 * began()
    }
    #expect(began() <= 513)
    // The hook has caught up and sees the next input.
    let before = slow.count
    try await bench.send("again")
    await eventually("the calls for the next input") { slow.count == before + 2 }
    #expect(slow.all.last == "input 3001 completed")
  }

  @Test("a hook may send inputs, which are processed in order")
  func sending() async throws {
    let box = Record<Bench<ControlledMachine>>()
    let bench = try await Bench(
      ControlledMachine(),
      hooks: [
        Hook(receiveOutput: { operation, output in
          guard operation.stage == .input, case .action(.note("a"), _) = output else { return }
          try await box.all.first?.send("from the hook")
        })
      ])
    box.add(bench)
    try await bench.send("a")
    await bench.reaches(revision: 2)
    #expect(await bench.do { $1.state.notes } == ["a", "from the hook"])
    // Breaks the reference cycle of the hook and the bench.
    box.removeAll()
  }

  @Test("a hook finishes its queued calls when the store closes")
  func closing() async throws {
    let gate = Gate()
    let seen = Record<String>()
    let bench = try await Bench(
      ControlledMachine(),
      hooks: [
        Hook(
          receiveSubscription: { _ in await gate.wait() },
          receiveOutput: { operation, _ in
            if operation.stage == .input { seen.add("\(operation.number)") }
          })
      ])
    try await bench.send("a")
    try await bench.send("b")
    await bench.end()
    gate.open()
    await eventually("two inputs") { seen.count == 2 }
    #expect(seen.all == ["1", "2"])
  }
}

extension Hook<ControlledMachine> {
  /// Returns a hook that records everything about inputs and work.
  fileprivate static func recording(_ record: Record<String>) -> Self {
    @Sendable func add(_ operation: StateMachines.Operation, _ what: String) {
      guard operation.stage == .input || operation.stage == .operation else { return }
      record.add("\(operation.name) \(operation.number) \(what)")
    }
    return Self(
      receiveSubscription: { add($0, "began") },
      receiveRequest: { add($0, $1?.name ?? "nil") },
      receiveOutput: { operation, output in
        if case .action(.note(let note), _) = output { add(operation, "gave \(note)") }
      },
      receiveCompletion: { operation, _ in add(operation, "completed") },
      receiveCancel: { add($0, "cancelled") })
  }
}
