// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A pile of cards; what a player draws only this player learns.
struct Cards: ViewerAwareMachine {
  enum Input: Codable, Sendable { case drawTapped }
  enum Action: Equatable, Sendable { case drawn(by: String) }
  enum Event: Encodable, Equatable, Sendable {
    case drawn(card: String, player: String)
    case pileEmpty
  }
  struct State: Codable, Sendable {
    var pile = ["ace", "king"]
    var last = ""
  }
  struct ViewState: Codable, Sendable { var left: Int }

  let initialState = State()

  func effect(of input: Input, in state: State, from viewer: Viewer) -> Effect<Action> {
    state.pile.isEmpty ? .none : .action(.drawn(by: viewer.name ?? "guest"))
  }

  func reduce(_ state: inout State, _ action: Action) { state.last = state.pile.removeFirst() }

  func view(of state: State) -> ViewState { ViewState(left: state.pile.count) }

  func event(of action: Action, in state: State) -> Event? {
    switch action {
    case .drawn(let player): .drawn(card: state.last, player: player)
    }
  }

  func recipients(of event: Event, in state: State) -> EventRecipients {
    switch event {
    case .drawn(_, let player): .only { $0.name == player }
    case .pileEmpty: .everyone
    }
  }
}
