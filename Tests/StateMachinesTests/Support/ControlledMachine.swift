// SPDX-License-Identifier: Apache-2.0

import StateMachines
import TestSupport

/// A state machine whose effects a test defines; an input selects an effect by its name.
struct ControlledMachine: StateMachine {
  struct Input: Codable, Equatable, Sendable, ExpressibleByStringLiteral {
    var name: String
    init(stringLiteral name: String) { self.name = name }
  }

  enum Action: Equatable, Sendable {
    /// Adds a note.
    case note(String)
    /// Changes state that is not in the view state.
    case hide(Int)
    case weigh(Double)
  }

  struct State: Sendable {
    var notes: [String] = []
    var weight = 0.0
    var hidden = 0
  }

  struct ViewState: Codable, Equatable, Sendable {
    var notes: [String]
    var weight: Double
  }

  var initialState = State()
  /// The effects by the name of the input. Another input adds its name as a note.
  var effects: [String: @Sendable (State) -> Effect<Action>] = [:]

  func effect(of input: Input, in state: State) -> Effect<Action> {
    effects[input.name].map { $0(state) } ?? .action(.note(input.name))
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .note(let note): state.notes.append(note)
    case .hide(let number): state.hidden = number
    case .weigh(let weight): state.weight = weight
    }
  }

  func view(of state: State) -> ViewState {
    ViewState(notes: state.notes, weight: state.weight)
  }
}

extension Effect<ControlledMachine.Action> {
  /// Returns work that sleeps for some seconds and then adds a note, unless it was cancelled.
  static func note(_ note: String, after seconds: Int) -> Effect {
    .run(note) { context in
      do { try await context.sleep(for: .seconds(seconds)) } catch { return }
      await context.send(.note(note))
    }
  }
}
