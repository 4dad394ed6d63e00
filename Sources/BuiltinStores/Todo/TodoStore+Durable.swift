// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines
public import StatewireJSON

// What goes on after a restart: changes of a list are carried out, once (the repository knows their
// ids), and lists are loaded again, since they may have changed meanwhile.

extension TodoStore: DurableMachine {
  public func restart(
    of input: TodoInput, in state: State, after elapsed: Duration
  ) -> Effect<Action> {
    switch input {
    case .stateRequested, .todoAdded, .todoRemoved, .todoRenamed, .todoCompleted, .todoReopened,
      .todoMoved:
      effect(of: input, in: state)
    case .todosUpdated:
      .none
    }
  }

  public func resumption(in state: State) -> Effect<Action> {
    state.shown == .content ? effect(of: .stateRequested, in: state) : .none
  }

  // The list is not needed before.
  public var resumesForFrontends: Bool { true }

  public func interruption(in state: State) -> Action? {
    state.shown == .loading ? .setState(Self.failure) : nil
  }
}

// Written for each action of a journaled list: the same text as by `Codable`, for a tenth of the instructions.
extension TodoStore.State: JSONWritable {
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("shown")
    writer.value(shown.rawValue)
    writer.key("list")
    writer.value(list)
    writer.endObject()
  }
}

extension AddTodoStore: DurableMachine {
  public func restart(
    of input: AddTodoInput, in state: State, after elapsed: Duration
  ) -> Effect<Action> {
    switch input {
    case .addTodo: effect(of: input, in: state)
    case .validate: .none
    }
  }

  public func interruption(in state: State) -> Action? {
    // No todo has this number.
    state.shown.loading ? .addingEnded(0, added: false) : nil
  }
}
