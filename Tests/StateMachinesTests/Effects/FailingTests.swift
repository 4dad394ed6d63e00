// SPDX-License-Identifier: Apache-2.0

import StateMachinesTesting
import TestSupport
import Testing

@testable import StateMachines

@Suite("Work that throws")
struct FailingTests {
  private struct Broken: Error {}
  private static let bad = ControlledMachine.Action.note("bad")

  /// Throws, as often as given, and then adds a note.
  private static func work(
    _ attempts: Record<Int>, failures: Int
  ) -> @Sendable (EffectContext<ControlledMachine.Action>) async throws -> Void {
    { context in
      attempts.add(1)
      if attempts.all.count <= failures { throw Broken() }
      await context.send(.note("done"))
    }
  }

  private func store(_ effect: Effect<ControlledMachine.Action>) -> TestStore<ControlledMachine> {
    TestStore(ControlledMachine(effects: ["do": { _ in effect }, "stop": { _ in .cancel("do") }]))
  }

  @Test("effects are counted when they begin, fail, end and are cancelled")
  func counts() async throws {
    let attempts = Record<Int>()
    let bench = try await Bench(
      ControlledMachine(
        effects: [
          "do": { _ in .run("do", failing: Self.bad, Self.work(attempts, failures: 1)) },
          "wait": { _ in .run("wait", id: "wait") { try? await $0.sleep(for: .seconds(9)) } },
          "stop": { _ in .cancel("wait") },
        ]))
    func counts() -> [Int] {
      [bench.effects.running, bench.effects.begun, bench.effects.failed].map(\.value)
    }
    try await bench.send("do", noting: "failed")
    await bench.reaches(notes: 1)
    #expect(counts() == [0, 1, 1])
    try await bench.send("do", noting: "done")
    await bench.reaches(notes: 2)
    #expect(counts() == [0, 2, 1])
    for _ in 0..<40 { try await bench.send("wait") }
    #expect(counts() == [40, 42, 1])
    try await bench.send("stop")
    #expect(counts() == [0, 42, 1])
    try await bench.send("wait")
    await bench.end()
    #expect(counts() == [0, 43, 1])
  }

  @Test("an error becomes the action of the failure")
  func action() async throws {
    let attempts = Record<Int>()
    let store = store(.run("do", failing: Self.bad, Self.work(attempts, failures: 1)))
    try await store.send("do")
    try await store.receive(Self.bad) { $0.notes = ["bad"] }
    try await store.send("do")
    try await store.receive(.note("done")) { $0.notes = ["bad", "done"] }
    try await store.finish()
  }

  @Test("an action can be made from the error, also from that of an injected fault")
  func mapped() async throws {
    let store = store(
      .run(
        "do", failing: { .note("\($0)") }, Self.work(Record<Int>(), failures: 1)))
    try await store.send("do")
    try await store.receive(.note("Broken()")) { $0.notes = ["Broken()"] }
    await store.inject(.fail, into: "do")
    try await store.send("do")
    try await store.receive(.note("an injected fault")) { $0.notes.append("an injected fault") }
    try await store.finish()
  }

  @Test("it is tried again without a rule for its failures, also as the work of a child")
  func retried() async throws {
    for failures in 1...3 {
      for isMapped in [false, true] {
        let attempts = Record<Int>()
        let work = Effect.run("do", failing: Self.bad, Self.work(attempts, failures: failures))
          .retried(attempts: 3)
        let store = store(isMapped ? work.compactMap { $0 } : work)
        try await store.send("do")
        try await store.advance(by: .seconds(3))
        let note = failures < 3 ? "done" : "bad"
        try await store.receive(.note(note)) { $0.notes = [note] }
        #expect(attempts.all.count == min(failures + 1, 3))
        try await store.finish()
      }
    }
  }

  @Test("a named failure that is sent is tried again too")
  func named() async throws {
    let attempts = Record<Int>()
    let store = store(
      Effect.run("work") { context in
        attempts.add(1)
        await context.send(attempts.all.count < 2 ? Self.bad : .note("done"))
      }
      .operation("do", failing: Self.bad).retried(attempts: 3))
    try await store.send("do")
    try await store.advance(by: .seconds(1))
    try await store.receive(.note("done")) { $0.notes = ["done"] }
    try await store.finish()
  }

  @Test("a rule decides alone which errors are tried again")
  func rule() async throws {
    let attempts = Record<Int>()
    let store = store(
      .run("do", failing: Self.bad, Self.work(attempts, failures: 9))
        .retried(attempts: 3) { $0 == .note("other") })
    try await store.send("do")
    try await store.receive(Self.bad) { $0.notes = ["bad"] }
    #expect(attempts.all.count == 1)
    try await store.finish()
  }

  @Test("the error of cancelled work, and of work that exceeds its timeout, is dropped")
  func cancelled() async throws {
    let sleeping = Effect<ControlledMachine.Action>.run("do", failing: Self.bad) {
      try await $0.sleep(for: .seconds(9))
    }
    let store = store(sleeping.timeout(after: .seconds(2), .note("late")).cancellable("do"))
    try await store.send("do")
    try await store.send("stop")
    try await store.send("do")
    try await store.advance(by: .seconds(2))
    try await store.receive(.note("late")) { $0.notes = ["late"] }
    try await store.finish()
  }

  @Test("hooks and traces see the failure")
  func traced() async throws {
    let trace = Record<String>()
    let bench = try await Bench(
      ControlledMachine(effects: [
        "do": { _ in .run("do", failing: Self.bad, Self.work(Record<Int>(), failures: 1)) }
      ]))
    await bench.do { _, store in
      store.trace { if $0.operation.stage == .operation { trace.add($0.words) } }
    }
    try await bench.send("do", noting: "do")
    await bench.reaches(notes: 1)
    #expect(trace.all == ["do began", "do asked", "do gave note, failed", "do failed"])
    await bench.end()
  }
}
