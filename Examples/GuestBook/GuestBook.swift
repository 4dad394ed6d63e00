// SPDX-License-Identifier: Apache-2.0

import Documents
import StateMachines

/// A guest book in a stored table, which all sessions show.
struct GuestBook: StateMachine {
  enum Input: Codable, Sendable {
    case signed(name: String, text: String)
    case liked(id: Int)
    case removed(id: Int)
  }
  enum Action: Equatable, Sendable {
    case entriesChanged(TableChange<Entry>)
    case failed(DocumentError)
  }

  struct Entry: Codable, Equatable, Identifiable, Sendable {
    let id: Int
    let name: String
    let text: String
    var likes = 0
  }
  struct State: Codable, Equatable, Sendable {
    var entries = TableRows<Entry>()
    var problem: String?
  }
  struct ViewState: Codable, Equatable, Sendable {
    let entries: KeyedList<Entry>
    let problem: String?
  }

  let entries: Table<Entry>
  let initialState = State()

  var initialEffect: Effect<Action> { watch(after: nil) }

  private func watch(after position: TablePosition?) -> Effect<Action> {
    entries.watch(after: position, failing: Action.failed, as: Action.entriesChanged)
  }

  func refusal(of input: Input) -> InputRefusal? {
    if case .signed("", _) = input {
      InputRefusal(.value, "enter a name", member: "name")
    } else {
      nil
    }
  }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .signed(let name, let text):
      entries.append(failing: Action.failed) { Entry(id: $0, name: name, text: text) }
    case .liked(let id):
      entries.update(id, failing: Action.failed) { entry in
        guard entry != nil else { throw InputRefusal(.value, "no such entry", member: "id") }
        entry?.likes += 1
      }
    case .removed(let id): entries.remove(id, failing: Action.failed)
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .entriesChanged(let change):
      state.entries.apply(change)
      state.problem = nil
    case .failed(let error): state.problem = error.message
    }
  }

  func view(of state: State) -> ViewState {
    ViewState(entries: state.entries.rows, problem: state.problem)
  }
}

extension GuestBook: DurableMachine {
  /// Begins the update again; the table carries it out only once.
  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    effect(of: input, in: state)
  }

  /// Continues after the last change that the state has.
  func resumption(in state: State) -> Effect<Action> { watch(after: state.entries.position) }
}
