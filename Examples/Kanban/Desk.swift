// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A board and a timer as one store: a composition of two stores that work alone, too.
struct Desk: DurableMachine {
  enum Input: Codable, Sendable {
    case kanban(input: Kanban.Input)
    case timer(input: WorkTimer.Input)
  }
  enum Action: Equatable, Sendable {
    case kanban(Kanban.Action)
    case timer(WorkTimer.Action)
  }
  typealias Event = WorkTimer.Event
  struct State: Codable, Sendable {
    var kanban = Kanban.State()
    var timer = WorkTimer.State()
  }
  struct ViewState: Codable, Sendable {
    let kanban: Kanban.ViewState
    let timer: WorkTimer.State
  }

  let initialState = State()
  let kanban: Kanban

  var children: [Child<Desk>] {
    Child(
      "kanban", kanban, state: \.kanban,
      input: CasePath(Input.kanban) { if case .kanban(let input) = $0 { input } else { nil } },
      action: CasePath(Action.kanban) { if case .kanban(let action) = $0 { action } else { nil } })
    Child(
      "timer", WorkTimer(), state: \.timer,
      input: CasePath(Input.timer) { if case .timer(let input) = $0 { input } else { nil } },
      action: CasePath(Action.timer) { if case .timer(let action) = $0 { action } else { nil } },
      event: { $0 })
  }

  func effect(of input: Input, in state: State) -> Effect<Action> { .none }

  func reduce(_ state: inout State, _ action: Action) {}

  func view(of state: State) -> ViewState {
    ViewState(kanban: kanban.view(of: state.kanban), timer: state.timer)
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .none
  }
}
