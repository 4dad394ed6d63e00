// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A time for work that is counted down, with an event at its end.
struct WorkTimer: DurableMachine {
  enum Input: Codable, Sendable {
    case startTapped(seconds: Int)
    case stopTapped
  }
  enum Action: Equatable, Sendable {
    case set(Int)
    case ticked
  }
  enum Event: Codable, Equatable, Sendable { case workEnded }
  struct State: Codable, Equatable, Sendable { var secondsLeft = 0 }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .startTapped(let seconds): .several(.action(.set(max(1, seconds))), ticks.latest("ticks"))
    case .stopTapped: .action(.set(0))
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .set(let seconds): state.secondsLeft = seconds
    case .ticked: state.secondsLeft -= 1
    }
  }

  func effect(after action: Action, in state: State) -> Effect<Action> {
    state.secondsLeft == 0 ? .cancel("ticks") : .none
  }

  func event(of action: Action, in state: State) -> Event? {
    action == .ticked && state.secondsLeft == 0 ? .workEnded : nil
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .none
  }

  func resumption(in state: State) -> Effect<Action> { state.secondsLeft > 0 ? ticks : .none }

  private var ticks: Effect<Action> { .ticks("ticks", every: .seconds(1)) { .ticked } }
}
