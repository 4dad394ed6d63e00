// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import TestSupport
import Testing

@Suite("Effects with policies")
struct EffectPolicyTests {
  /// Returns work that gives the next note at each attempt, one second after it began.
  private static func work(_ notes: [String], _ attempts: Lock<Int> = Lock(0)) -> Effect<
    ControlledMachine.Action
  > {
    .run("work") { context in
      guard (try? await context.sleep(for: .seconds(1))) != nil else { return }
      let number = attempts.withLock { attempts in
        attempts += 1
        return attempts
      }
      await context.send(.note("begin \(number)"))
      await context.send(.note(notes[min(number, notes.count) - 1]))
    }
  }

  private static func isFailure(_ action: ControlledMachine.Action) -> Bool {
    action == .note("failed")
  }

  private func store(_ effect: @escaping @Sendable () -> Effect<ControlledMachine.Action>)
    -> TestStore<ControlledMachine>
  {
    TestStore(ControlledMachine(effects: ["do": { _ in effect() }]))
  }

  @Test("a failure is not sent if another attempt follows")
  func retried() async throws {
    let attempts = Lock(0)
    let store = store {
      Self.work(["failed", "failed", "done"], attempts)
        .retried(attempts: 5, when: Self.isFailure) { .note("attempt \($0)") }
    }
    try await store.send("do")
    try await store.advance(by: .seconds(1))
    try await store.receive(.note("begin 1")) { $0.notes = ["begin 1"] }
    try await store.receive(.note("attempt 2")) { $0.notes.append("attempt 2") }
    try await store.advance(by: .seconds(2))
    try await store.receive(.note("begin 2")) { $0.notes.append("begin 2") }
    try await store.receive(.note("attempt 3")) { $0.notes.append("attempt 3") }
    try await store.advance(by: .seconds(3))
    try await store.receive(.note("begin 3")) { $0.notes.append("begin 3") }
    try await store.receive(.note("done")) { $0.notes.append("done") }
    try await store.finish()
  }

  @Test(
    "the failure of the last attempt is sent, also if there is only one attempt", arguments: [1, 2])
  func lastFailure(attempts: Int) async throws {
    let store = store {
      Self.work(["failed"]).retried(
        attempts: attempts, backoff: .constant(.seconds(3)), when: Self.isFailure)
    }
    try await store.send("do")
    try await store.advance(by: .seconds(attempts == 1 ? 1 : 5))
    try await store.receive(.note("begin 1")) { $0.notes = ["begin 1"] }
    if attempts == 2 {
      try await store.receive(.note("begin 2")) { $0.notes.append("begin 2") }
    }
    try await store.receive(.note("failed")) { $0.notes.append("failed") }
    try await store.finish()
  }

  @Test("a retry that waits ends when it is cancelled")
  func cancelledWait() async throws {
    let store = TestStore(
      ControlledMachine(effects: [
        "do": { _ in
          Self.work(["failed"]).retried(attempts: 9, when: Self.isFailure).cancellable("work")
        },
        "stop": { _ in .cancel("work") },
      ]))
    try await store.send("do")
    try await store.advance(by: .seconds(1))
    try await store.receive(.note("begin 1")) { $0.notes = ["begin 1"] }
    try await store.send("stop")
    try await store.finish()
  }

  @Test("work that exceeds its timeout gives the timeout action and no other")
  func timeout() async throws {
    let store = store {
      Effect.run("slow") { context in
        await context.send(.note("begun"))
        // The work ignores its cancellation and continues.
        try? await context.sleep(for: .seconds(9))
        await context.send(.note("late"))
      }
      .timeout(after: .seconds(2), .note("timeout"))
    }
    try await store.send("do")
    try await store.receive(.note("begun")) { $0.notes = ["begun"] }
    try await store.advance(by: .seconds(2))
    try await store.receive(.note("timeout")) { $0.notes.append("timeout") }
    try await store.finish()
  }

  @Test("work within its timeout gives its actions, and a wait before it does not count")
  func inTime() async throws {
    let store = store {
      .after(.seconds(5), Self.work(["done"]).timeout(after: .seconds(2), .note("timeout")))
    }
    try await store.send("do")
    try await store.advance(by: .seconds(6))
    try await store.receive(.note("begin 1")) { $0.notes = ["begin 1"] }
    try await store.receive(.note("done")) { $0.notes.append("done") }
    try await store.finish()
    let whole = self.store {
      .after(.seconds(5), Self.work(["done"])).timeout(after: .seconds(2), .note("timeout"))
    }
    try await whole.send("do")
    try await whole.advance(by: .seconds(6))
    try await whole.receive(.note("begin 1")) { $0.notes = ["begin 1"] }
    try await whole.receive(.note("done")) { $0.notes.append("done") }
    try await whole.finish()
  }

  @Test("work that ends at the instant of its timeout is not too late, however late its wait began")
  func tie() async throws {
    let store = store {
      Effect.run("steps") { context in
        try? await context.sleep(for: .seconds(1))
        try? await context.sleep(for: .seconds(1))
        await context.send(.note("done"))
      }
      .timeout(after: .seconds(2), .note("timeout"))
    }
    try await store.send("do")
    try await store.advance(by: .seconds(2))
    try await store.receive(.note("done")) { $0.notes = ["done"] }
    try await store.finish()
    let never = self.store { Self.work(["done"]).timeout(after: .zero, .note("timeout")) }
    try await never.send("do")
    try await never.receive(.note("timeout")) { $0.notes = ["timeout"] }
    try await never.finish()
  }

  @Test("a cached action is folded immediately until it expires")
  func cached() async throws {
    let cache = ExpiringCache<String, ControlledMachine.Action>()
    let attempts = Lock(0)
    let store = store {
      Self.work(["failed", "done", "again"], attempts)
        .cached(in: cache, key: "k", for: .seconds(10)) { action in
          action == .note("done")
        }
    }
    try await store.send("do")
    try await store.advance(by: .seconds(1))
    try await store.receive(.note("begin 1")) { $0.notes = ["begin 1"] }
    try await store.receive(.note("failed")) { $0.notes.append("failed") }
    // An action that need not be cached was not cached.
    try await store.send("do")
    try await store.advance(by: .seconds(1))
    try await store.receive(.note("begin 2")) { $0.notes.append("begin 2") }
    try await store.receive(.note("done")) { $0.notes.append("done") }
    try await store.send("do") { $0.notes.append("done") }
    try await store.advance(by: .seconds(10))
    try await store.send("do")
    try await store.advance(by: .seconds(1))
    try await store.receive(.note("begin 3")) { $0.notes.append("begin 3") }
    try await store.receive(.note("again")) { $0.notes.append("again") }
    try await store.finish()
  }

  @Test("policies apply to the work inside all kinds of effects, but not to immediate effects")
  func everywhere() async throws {
    let store = store {
      .several(
        .action(.note("now")), .none,
        .deferred { _ in
          Self.work(["failed", "done"]).timeout(after: .seconds(5), .note("timeout"))
        }
      )
      .retried(attempts: 2, backoff: .constant(.zero), when: Self.isFailure)
    }
    try await store.send("do") { $0.notes = ["now"] }
    try await store.advance(by: .seconds(2))
    try await store.receive(.note("begin 1")) { $0.notes.append("begin 1") }
    try await store.receive(.note("begin 2")) { $0.notes.append("begin 2") }
    try await store.receive(.note("done")) { $0.notes.append("done") }
    try await store.finish()
  }
}
