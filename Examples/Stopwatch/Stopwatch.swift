// SPDX-License-Identifier: Apache-2.0

import StateMachines

struct Stopwatch: StateMachine {
  enum Input: Codable, Sendable { case startTapped, stopTapped, resetTapped }
  enum Action: Sendable { case started, ticked, stopped, reset }
  struct State: Codable, Sendable {
    var seconds = 0
    var isRunning = false
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .startTapped: .several(.action(.started), ticking)
    case .stopTapped: .several(.cancel("ticking"), .action(.stopped))
    case .resetTapped: .action(.reset)
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .started: state.isRunning = true
    case .ticked: state.seconds += 1
    case .stopped: state.isRunning = false
    case .reset: state.seconds = 0
    }
  }

  private var ticking: Effect<Action> {
    .ticks("ticking", every: .seconds(1)) { .ticked }.unlessRunning()
  }
}
