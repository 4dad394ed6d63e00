// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A countdown that stops its ticks when it reaches zero.
struct Countdown: StateMachine {
  enum Input: Codable, Sendable { case startTapped(seconds: Int) }
  enum Action: Equatable, Sendable {
    case set(Int)
    case ticked
  }
  struct State: Codable, Equatable, Sendable { var left = 0 }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .startTapped(let seconds):
      .several(
        .action(.set(seconds)), .ticks("ticks", every: .seconds(1)) { .ticked }.latest("ticks"))
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .set(let seconds): state.left = seconds
    case .ticked: state.left -= 1
    }
  }

  func effect(after action: Action, in state: State) -> Effect<Action> {
    action == .ticked && state.left == 0 ? .cancel("ticks") : .none
  }
}

/// Two countdowns; the one that ends first wins.
struct Duel: StateMachine {
  enum Input: Codable, Sendable {
    case left(input: Countdown.Input)
    case right(input: Countdown.Input)
  }
  enum Action: Equatable, Sendable {
    case left(Countdown.Action)
    case right(Countdown.Action)
    case won(String)
  }
  struct State: Codable, Equatable, Sendable {
    var left = Countdown.State()
    var right = Countdown.State()
    var winner: String?
  }

  let initialState = State()

  var children: [Child<Duel>] {
    Child(
      "left", Countdown(), state: \.left,
      input: CasePath(Input.left) { if case .left(let input) = $0 { input } else { nil } },
      action: CasePath(Action.left) { if case .left(let action) = $0 { action } else { nil } })
    Child(
      "right", Countdown(), state: \.right,
      input: CasePath(Input.right) { if case .right(let input) = $0 { input } else { nil } },
      action: CasePath(Action.right) { if case .right(let action) = $0 { action } else { nil } })
  }

  func effect(of input: Input, in state: State) -> Effect<Action> { .none }

  func reduce(_ state: inout State, _ action: Action) {
    if case .won(let name) = action { state.winner = name }
  }

  func effect(after action: Action, in state: State) -> Effect<Action> {
    switch action {
    case .left(.ticked) where state.left.left == 0 && state.winner == nil: .action(.won("left"))
    case .right(.ticked) where state.right.left == 0 && state.winner == nil: .action(.won("right"))
    default: .none
    }
  }
}
