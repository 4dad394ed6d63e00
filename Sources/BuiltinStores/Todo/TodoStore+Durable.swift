// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines
public import StatewireJSON

// After a restart operations are performed again. A repository that outlives the process ignores an
// operation that it has performed, because it knows the id. Lists are loaded again, because they
// may have changed meanwhile.

extension TodoStore: DurableMachine {
  /// Performs the operation of an input again.
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

  /// Loads the list again if it is shown.
  public func resumption(in state: State) -> Effect<Action> {
    state.shown == .content ? effect(of: .stateRequested, in: state) : .none
  }

  // No work is needed before a frontend attaches.
  /// True: the list is loaded again only for frontends.
  public var resumesForFrontends: Bool { true }

  /// Returns the error state for a state that is loading; else nil.
  public func interruption(in state: State) -> Action? {
    state.shown == .loading ? .setState(Self.failure) : nil
  }
}

// Written for each action of a journaled list: the same text as by `Codable`, with a tenth of the
// instructions.
extension TodoStore.State: JSONWritable {
  /// Writes the same text as `encode(to:)`, faster.
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
  /// Adds the todo again; a database adds it only once.
  public func restart(
    of input: AddTodoInput, in state: State, after elapsed: Duration
  ) -> Effect<Action> {
    switch input {
    case .addTodo: effect(of: input, in: state)
    case .validate: .none
    }
  }

  /// Returns the end of adding for a state that is adding a todo; else nil.
  public func interruption(in state: State) -> Action? {
    // 0 is the number of no todo.
    state.shown.loading ? .addingEnded(0, added: false) : nil
  }
}
