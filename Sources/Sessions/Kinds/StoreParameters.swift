// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON

extension StoreKind {
  /// The parameters of a new store.
  public struct StoreParameters {
    /// The name of the store.
    public let store: String
    let number: StoreNumber
    let host: any StoreHost
    let environment: StoreEnvironment
    /// The observers of the server, each of which may have a hook for the store.
    public let observers: [any StoreObserver]
    /// The store as the observers know it.
    public let observed: ObservedStore
    let session: Session
    let origin: StoreOrigin
    /// The participant that opens the store; after a restart only its identity is known.
    public let viewer: Viewer
    /// The state from which a restored store continues; nil for a new one.
    public var restored: JSONValue? { origin.state }
    /// The value of the preparation; nil without one.
    public let prepared: (any Sendable)?

    /// Creates the store of a machine, in its initial state or in the state of an earlier process.
    ///
    /// - Parameters:
    ///   - machine: The machine.
    ///   - hooks: Observers of the store.
    /// - Throws: `JSONError` if the first view cannot be encoded, or the state cannot be read.
    public func store<Machine: StateMachine>(
      of machine: Machine, hooks: [Hook<Machine>]
    ) throws(JSONError) -> Made {
      if origin.isCopy, let state = origin.state {
        // Hooks have effects outside of the store.
        return Made(
          try Store(
            copy: machine, number: number, host: host, environment: environment,
            revision: origin.revision, state: state))
      }
      guard let state = origin.state else {
        return Made(
          try Store(
            machine, number: number, host: host, environment: environment, hooks: hooks,
            revision: origin.revision, lastOperation: origin.lastOperation))
      }
      return Made(
        try Store(
          restoring: machine, number: number, host: host, environment: environment, hooks: hooks,
          revision: origin.revision, lastOperation: origin.lastOperation, state: state,
          version: origin.version))
    }
  }
}

/// The starting point of a new store.
struct StoreOrigin {
  /// The revision of its first state.
  var revision: Revision = 0
  /// The number of the last input of a store with the same name.
  var lastOperation: UInt64 = 0
  /// The folded state from which it continues; nil for the initial state.
  var state: JSONValue?
  /// The version of the machine that has journaled the state; nil for the version of the machine.
  var version: Int?
  /// True for a copy of a store in this process.
  var isCopy = false
}

extension StoreOrigin {
  /// Creates the starting point of a store that is opened under the name of a closed one.
  init(after store: any AnyStore) {
    self.init(revision: store.revision + 1, lastOperation: store.lastOperation)
  }
}
