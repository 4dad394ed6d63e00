// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A state that was read from its persisted form.
struct RestoredState<State> {
  let state: State
  /// True if the state, as it is encoded now, is the persisted one. If it is not, it needs a
  /// revision of its own: clients hold the persisted one.
  let isUnchanged: Bool
}

extension StateMachine {
  /// Checks that a store of this machine can be restored in a persisted state.
  ///
  /// - Parameters:
  ///   - state: The folded state, as `StoreRecorder` received it.
  ///   - version: The version of the machine that has recorded the state.
  /// - Throws: `JSONError` with the path into the state if it cannot be read, or if the machine is
  ///   not a `DurableMachine`.
  public func checkPersistedState(_ state: JSONValue, version: Int) throws(JSONError) {
    let durability = try Durability<Self>.required()
    let restored = try durability.restoreState(self, state, version)
    _ = try JSONEncodedState(view(of: restored.state))
  }
}

extension DurableMachine {
  /// Reads a persisted state; `DurableMachine` describes the steps.
  ///
  /// - Parameter version: The version that has persisted the state; nil for the version of this
  ///   machine.
  /// - Throws: `JSONError` with the path into the state if it cannot be read.
  func restoredState(
    _ persisted: JSONValue, version: Int?
  ) throws(JSONError) -> RestoredState<State> {
    let (old, current) = (version ?? self.version, self.version)
    guard old <= current else {
      throw JSONError(
        .value, "the state has version \(old), and this program reads versions up to \(current)")
    }
    guard old == current else {
      let migrated = try migratedState(persisted, from: old)
      return RestoredState(state: try decodedState(migrated), isUnchanged: false)
    }
    let state = try decodedState(persisted)
    return RestoredState(state: state, isUnchanged: try isEncoded(state, as: persisted))
  }

  private func migratedState(
    _ persisted: JSONValue, from version: Int
  ) throws(JSONError) -> JSONValue {
    do {
      return try migrate(from: version, state: persisted)
    } catch {
      let cause = error as? JSONError ?? JSONError(.value, String(describing: error))
      throw JSONError(
        cause.code, "migrate(from: \(version)) has failed: \(cause.message)", path: cause.path)
    }
  }

  /// Decodes a state, and fills in members that it lacks.
  private func decodedState(_ value: JSONValue) throws(JSONError) -> State {
    try DefaultMembers.decode(State.self, from: value) { () throws(JSONError) in
      try DefaultMembers(of: self)
    }
  }

  private func isEncoded(_ state: State, as persisted: JSONValue) throws(JSONError) -> Bool {
    let encoded = try JSON.encode(state)
    // Texts that differ can be the same value, for example if members have another order.
    if encoded == persisted.bytes { return true }
    return try JSONValue(parsing: encoded, limits: .stored) == persisted
  }
}
