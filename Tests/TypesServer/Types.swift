// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON

/// A store that shows a value of each type, and compares what clients send back with it. It is
/// journaled.
struct Types: DurableMachine {
  enum Input: Codable, Sendable { case echoed(values: AllTypes) }
  enum Action: Sendable { case compared(isSame: Bool) }
  struct State: Codable, Sendable {
    var values = AllTypes()
    var sameEchoes = 0
    var otherEchoes = 0
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .echoed(let values):
      // Two values are the same if they have the same JSON, because not all types are `Equatable`.
      let isSame = (try? JSON.value(values)) == (try? JSON.value(state.values))
      return .action(.compared(isSame: isSame))
    }
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .none
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .compared(isSame: true): state.sameEchoes += 1
    case .compared(isSame: false): state.otherEchoes += 1
    }
  }
}
