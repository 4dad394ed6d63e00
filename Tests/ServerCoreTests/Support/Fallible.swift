// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A store with an operation of each form, which sets the number, or fails if the number is -1.
struct Fallible: StateMachine {
  enum Input: Codable, Sendable {
    /// An immediate operation.
    case atOnce(number: Int)
    /// An operation that is work.
    case work(number: Int)
    /// An operation that is work and is tried three times.
    case retried(number: Int)
    /// An operation that is part of work.
    case part(number: Int)
    /// All frontends are inactive.
    case rest
  }
  struct State: Codable, Sendable { var number = 0 }
  struct Event: Codable, Sendable { var wasSetTo: Int }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Int> {
    switch input {
    case .atOnce(let number): Effect.action(number).operation("set", failing: -1)
    case .work(let number):
      Effect.run("work") { await $0.send(number) }.operation("set", failing: -1)
    case .retried(let number):
      Effect.run("work") { await $0.send(number) }.operation("set", failing: -1)
        .retried(attempts: 3)
    case .part(let number):
      .run("work") { context in
        let outcome = await context.operation("set", failing: -1, when: { $0 < 0 }) { number }
        if !Task.isCancelled { await context.send(outcome) }
      }
    case .rest: .action(0)
    }
  }

  func reduce(_ state: inout State, _ action: Int) { state.number = action }

  func event(of action: Int, in state: State) -> Event? {
    action == 13 ? Event(wasSetTo: action) : nil
  }

  func input(for phase: LifecyclePhase) -> Input? { phase == .inactive ? .rest : nil }
}
