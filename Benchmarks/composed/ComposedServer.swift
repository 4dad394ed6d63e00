// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireServer

/// Serves a counter, stores that have one and ten counters as children, and a machine that has the same
/// ten counters without children, for `make composed`.
@main
struct ComposedServer: ServerProgram {
  static let abstract = "Serves a counter, and ten counters in one store."
  static let kinds: ServerKinds = [
    StoreKind("counter") { Counter() }, StoreKind("child") { OneCounter() },
    StoreKind("counters") { TenCounters() },
    StoreKind("written") { TenCountersWritten() },
  ]
}

struct Counter: StateMachine {
  enum Input: Codable, Sendable {
    case incremented, decremented
    case renamed(title: String)
  }
  struct State: Codable, Sendable {
    var title = "Counter"
    var count = 0
    var highest = 0
    var isPositive = false
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }

  func reduce(_ state: inout State, _ action: Input) {
    switch action {
    case .incremented: state.count += 1
    case .decremented: state.count -= 1
    case .renamed(let title): state.title = title
    }
    state.highest = max(state.highest, state.count)
    state.isPositive = state.count > 0
  }
}

struct OneCounter: StateMachine {
  enum Input: Codable, Sendable {
    case one(input: Counter.Input)
  }
  struct State: Codable, Sendable {
    var one = Counter.State()
  }

  let initialState = State()

  var children: [Child<OneCounter>] {
    let path = CasePath(Input.one) { if case .one(let input) = $0 { input } else { nil } }
    Child("one", Counter(), state: \.one, input: path, action: path)
  }

  func effect(of input: Input, in state: State) -> Effect<Input> { .none }
  func reduce(_ state: inout State, _ action: Input) {}
}

struct TenCounters: StateMachine {
  enum Input: Codable, Sendable {
    case one(input: Counter.Input)
    case two(input: Counter.Input)
    case three(input: Counter.Input)
    case four(input: Counter.Input)
    case five(input: Counter.Input)
    case six(input: Counter.Input)
    case seven(input: Counter.Input)
    case eight(input: Counter.Input)
    case nine(input: Counter.Input)
    case ten(input: Counter.Input)
  }
  struct State: Codable, Sendable {
    var one = Counter.State(), two = Counter.State(), three = Counter.State(),
      four = Counter.State(), five = Counter.State(), six = Counter.State(),
      seven = Counter.State(), eight = Counter.State(), nine = Counter.State(),
      ten = Counter.State()
  }

  let initialState = State()

  var children: [Child<TenCounters>] {
    counter(
      "one", \.one, CasePath(Input.one) { if case .one(let input) = $0 { input } else { nil } })
    counter(
      "two", \.two, CasePath(Input.two) { if case .two(let input) = $0 { input } else { nil } })
    counter(
      "three", \.three,
      CasePath(Input.three) { if case .three(let input) = $0 { input } else { nil } })
    counter(
      "four", \.four, CasePath(Input.four) { if case .four(let input) = $0 { input } else { nil } })
    counter(
      "five", \.five, CasePath(Input.five) { if case .five(let input) = $0 { input } else { nil } })
    counter(
      "six", \.six, CasePath(Input.six) { if case .six(let input) = $0 { input } else { nil } })
    counter(
      "seven", \.seven,
      CasePath(Input.seven) { if case .seven(let input) = $0 { input } else { nil } })
    counter(
      "eight", \.eight,
      CasePath(Input.eight) { if case .eight(let input) = $0 { input } else { nil } })
    counter(
      "nine", \.nine, CasePath(Input.nine) { if case .nine(let input) = $0 { input } else { nil } })
    counter(
      "ten", \.ten, CasePath(Input.ten) { if case .ten(let input) = $0 { input } else { nil } })
  }

  private func counter(
    _ name: String, _ state: any WritableKeyPath<State, Counter.State> & Sendable,
    _ path: CasePath<Input, Counter.Input>
  ) -> Child<TenCounters> {
    Child(name, Counter(), state: state, input: path, action: path)
  }

  func effect(of input: Input, in state: State) -> Effect<Input> { .none }
  func reduce(_ state: inout State, _ action: Input) {}
}

/// The same store as `TenCounters`, written without children.
struct TenCountersWritten: StateMachine {
  typealias Input = TenCounters.Input
  typealias State = TenCounters.State

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }

  func reduce(_ state: inout State, _ action: Input) {
    let counter = Counter()
    switch action {
    case .one(let input): counter.reduce(&state.one, input)
    case .two(let input): counter.reduce(&state.two, input)
    case .three(let input): counter.reduce(&state.three, input)
    case .four(let input): counter.reduce(&state.four, input)
    case .five(let input): counter.reduce(&state.five, input)
    case .six(let input): counter.reduce(&state.six, input)
    case .seven(let input): counter.reduce(&state.seven, input)
    case .eight(let input): counter.reduce(&state.eight, input)
    case .nine(let input): counter.reduce(&state.nine, input)
    case .ten(let input): counter.reduce(&state.ten, input)
    }
  }
}
