// SPDX-License-Identifier: Apache-2.0

import StateMachines

// An exact copy of the example in the documentation of `StateMachine`.

struct Counter: StateMachine {
  enum Input: Codable, Sendable { case incrementTapped, resetTapped }
  enum Action {
    case add(Int)
    case reset
  }
  struct State: Codable, Sendable { var count = 0 }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .incrementTapped: .action(.add(1))
    case .resetTapped: .action(.reset)
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .add(let amount): state.count += amount
    case .reset: state.count = 0
    }
  }
}
