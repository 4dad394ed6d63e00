// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A number. It counts by itself while it runs.
struct CounterStore: StateMachine {
  /// An input, which a client sends.
  enum Input: Codable, Sendable {
    case incrementTapped
    case startTapped
    case stopTapped
  }

  /// An action, which changes the state.
  enum Action: Equatable, Sendable {
    case incremented
    case started
    case stopped
  }

  /// The state, which clients receive.
  struct State: Codable, Sendable {
    var count = 0
    var isRunning = false
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .incrementTapped:
      .action(.incremented)
    case .startTapped where !state.isRunning:
      .several(.action(.started), .ticks("counting", every: .seconds(1)) { .incremented })
    case .stopTapped where state.isRunning:
      .several(.cancel("counting"), .action(.stopped))
    case .startTapped, .stopTapped:
      .none
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .incremented: state.count += 1
    case .started: state.isRunning = true
    case .stopped: state.isRunning = false
    }
  }
}
