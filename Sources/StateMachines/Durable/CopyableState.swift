// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The state of a store from which a copy of the store can begin.
public enum CopyableState: Sendable {
  /// The state cannot be copied: its type is not `Codable`.
  case none
  /// The view state that listeners hold is the state.
  case shown
  /// The state, which is not shown.
  case hidden(JSONEncodedState)
}

extension Store {
  /// The state from which a copy of the store can begin.
  ///
  /// - Complexity: O(state), unless it is `.shown`.
  public var copyable: CopyableState {
    guard Machine.State.self is any Decodable.Type, let state = state as? any Encodable else {
      return .none
    }
    // Only durable machines promise that their view is the state itself.
    if Machine.State.self == Machine.ViewState.self, Machine.self is any DurableMachine.Type {
      return .shown
    }
    return Self.encoded(state).map { .hidden($0) } ?? .none
  }

  private static func encoded(_ state: some Encodable) -> JSONEncodedState? {
    try? JSONEncodedState(state)
  }

  /// Creates a store in a state of another store; no effect begins in it.
  ///
  /// - Parameters:
  ///   - machine: The machine to run.
  ///   - number: The number by which `host` finds this store for a message.
  ///   - host: The actor that owns the store.
  ///   - environment: The clock, executor and faults of effects.
  ///   - revision: The revision of the state.
  ///   - state: The state, as `copyable` has it.
  /// - Throws: `JSONError` if the value is not a state of the machine.
  public convenience init(
    copy machine: Machine, number: StoreNumber, host: any StoreHost,
    environment: StoreEnvironment, revision: Revision, state: JSONValue
  ) throws(JSONError) {
    func decoded<State: Decodable>(_ type: State.Type) throws(JSONError) -> State {
      try JSON.decode(type, from: state, limits: .stored)
    }
    guard let type = Machine.State.self as? any Decodable.Type,
      let state = try decoded(type) as? Machine.State
    else { throw JSONError(.type, "states of this kind cannot be copied: they are not Codable") }
    try self.init(
      machine, number: number, host: host, environment, hooks: [], revision: revision,
      lastOperation: 0, state: state)
  }
}
