// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON

/// A definition of a store that clients can open: a name, and a function that creates the machine.
public struct StoreKind: Sendable {
  /// The name in `store/open`; a store with this name is opened on first use.
  public let name: String
  /// The sessions that use one store of this kind.
  public let scope: StoreScope
  /// The names of members, at any depth of states, inputs and events, whose values are secrets of
  /// users. The console does not show them.
  public private(set) var secretMembers: Set<String> = []
  /// Returns the reason to refuse a use of a store to a viewer; nil if every use is permitted.
  let refusing: Refusing?
  /// Decodes a configuration.
  let read: @Sendable (JSONValue) throws(JSONError) -> any Sendable
  /// Creates a store with a decoded configuration.
  let make: @Sendable (any Sendable, StoreParameters) throws(JSONError) -> Made
  /// Checks that the limits of the kind admit another store with a configuration.
  let admit: @Sendable (any Sendable, Session) throws(JSONError) -> Void
  /// Returns the work to do before a store is opened with a configuration; nil if there is none.
  let preparation: @Sendable (any Sendable, _ store: String, Viewer, any StoreClock) -> Preparation?
  /// True if a store cannot be opened without its preparation.
  let requiresPreparation: Bool
  /// Checks the machine of a store with an empty configuration; does nothing if the kind requires
  /// a configuration.
  ///
  /// A server calls it at its start, so that the author of the kind meets the error and not the
  /// first client.
  public let checkInitialState: @Sendable () throws(JSONError) -> Void
  /// Checks that a store with a configuration can read a state; see `checkState`.
  private let checkDecoded:
    @Sendable (_ state: JSONValue, _ version: Int, any Sendable) throws(JSONError) -> Void
  /// Returns the reason why the kind does not run, or not in its changed version, in one sentence for
  /// operators; nil if it runs. Any thread may call it.
  package var problem: @Sendable () -> String? = { nil }
  /// Returns the schemas of the kind; see `description(in:)`.
  let describe: @Sendable (JSONSchemas) -> Description

  /// The work before a store is opened, which runs beside the shard: creates a value that takes long to
  /// create.
  package typealias Preparation = @Sendable () async -> Result<any Sendable, JSONError>

  /// Returns the reason to refuse a use of a store to a viewer; nil if it is permitted.
  public typealias Refusing = @Sendable (StoreAccess, Viewer) -> InputRefusal?

  /// Creates a kind without a configuration.
  ///
  /// - Parameters:
  ///   - name: The name in `store/open`.
  ///   - scope: The sessions that use one store.
  ///   - refusing: Returns the reason to refuse a use of a store to a viewer. Nil to permit all.
  ///   - hooks: Observers of each store of this kind.
  ///   - machine: Creates the machine of one store.
  public init<Machine: StateMachine>(
    _ name: String, scope: StoreScope = .session, refusing: Refusing? = nil,
    hooks: [Hook<Machine>] = [], _ machine: @escaping @Sendable () -> Machine
  ) {
    self.init(
      name, configuration: NoConfiguration.self, scope: scope, refusing: refusing, hooks: hooks
    ) { _ in machine() }
  }

  /// Creates a kind with a configuration.
  ///
  /// - Parameters:
  ///   - name: The name in `store/open`.
  ///   - configuration: The type of the configuration. It is decoded from the object in
  ///     `store/open`, from `{}` if there is none.
  ///   - scope: The sessions that use one store.
  ///   - refusing: Returns the reason to refuse a use of a store to a viewer. Nil to permit all.
  ///   - hooks: Observers of each store of this kind.
  ///   - machine: Creates the machine of one store; throws if the configuration cannot be used.
  public init<Configuration: Decodable & Sendable, Machine: StateMachine>(
    _ name: String, configuration: Configuration.Type, scope: StoreScope = .session,
    refusing: Refusing? = nil, hooks: [Hook<Machine>] = [],
    _ machine: @escaping @Sendable (Configuration) throws(ConfigurationError) -> Machine
  ) {
    self.init(
      name, configuration: configuration, scope: scope, refusing: refusing, sharing: Nothing.init,
      hooks: hooks
    ) {
      configuration, _ throws(ConfigurationError) in try machine(configuration)
    }
  }

  /// Creates a kind with a configuration, whose stores in one session share a value, for example a
  /// cache.
  ///
  /// - Parameters:
  ///   - name: The name in `store/open`.
  ///   - configuration: The type of the configuration. It is decoded from the object in
  ///     `store/open`, from `{}` if there is none.
  ///   - scope: The sessions that use one store.
  ///   - refusing: Returns the reason to refuse a use of a store to a viewer. Nil to permit all.
  ///   - sharing: Creates the shared value of a session, when its first store is opened.
  ///   - admitting: Called before a store is created, but not before a store is restored; throws if
  ///     a limit does not admit another store. Nil for no limit.
  ///   - hooks: Observers of each store of this kind.
  ///   - machine: Creates the machine of one store; throws if the configuration cannot be used.
  public init<Configuration: Decodable & Sendable, Shared: Sendable, Machine: StateMachine>(
    _ name: String, configuration: Configuration.Type, scope: StoreScope = .session,
    refusing: Refusing? = nil, sharing: @escaping @Sendable () -> Shared,
    admitting: (@Sendable (Configuration, Shared) throws(ConfigurationError) -> Void)? = nil,
    hooks: [Hook<Machine>] = [],
    _ machine: @escaping @Sendable (Configuration, Shared) throws(ConfigurationError) -> Machine
  ) {
    self.init(
      name, configuration: configuration, scope: scope, refusing: refusing,
      sharingWithin: { _ in sharing() }, admitting: admitting, hooks: hooks, machine)
  }

  /// Creates a kind with a configuration, whose stores in one session share a value that depends on
  /// the session's identity.
  ///
  /// - Parameters:
  ///   - name: The name in `store/open`.
  ///   - configuration: The type of the configuration. It is decoded from the object in
  ///     `store/open`, from `{}` if there is none.
  ///   - scope: The sessions that use one store.
  ///   - refusing: Returns the reason to refuse a use of a store to a viewer. Nil to permit all.
  ///   - sharing: Creates the shared value from the name of the session's identity, which is nil if
  ///     there are no identities.
  ///   - admitting: Called before a store is created, but not before a store is restored; throws if
  ///     a limit does not admit another store. Nil for no limit.
  ///   - preparing: Returns a closure that creates a value which takes long to create. The closure
  ///     runs on another thread before a store is opened, and its value exists until the store is
  ///     opened, so that `machine` can find it. Nil, also as the result for a configuration, for no
  ///     such value.
  ///   - hooks: Observers of each store of this kind.
  ///   - machine: Creates the machine of one store; throws if the configuration cannot be used.
  public init<Configuration: Decodable & Sendable, Shared: Sendable, Machine: StateMachine>(
    _ name: String, configuration: Configuration.Type, scope: StoreScope = .session,
    refusing: Refusing? = nil,
    sharingWithin sharing: @escaping @Sendable (_ identity: String?) -> Shared,
    admitting: (@Sendable (Configuration, Shared) throws(ConfigurationError) -> Void)? = nil,
    preparing: (@Sendable (Configuration) -> (@Sendable () -> any Sendable)?)? = nil,
    hooks: [Hook<Machine>] = [],
    _ machine: @escaping @Sendable (Configuration, Shared) throws(ConfigurationError) -> Machine
  ) {
    self.init(
      name, configuration, scope, refusing, sharing, admitting, preparing, hooks
    ) { configuration, shared, _, _ throws(ConfigurationError) in
      try machine(configuration, shared)
    }
  }

  /// Creates a kind with a configuration, whose machines depend on the participant that opens the
  /// store.
  ///
  /// - Parameters:
  ///   - name: The name in `store/open`.
  ///   - configuration: The type of the configuration. It is decoded from the object in
  ///     `store/open`, from `{}` if there is none.
  ///   - scope: The sessions that use one store.
  ///   - refusing: Returns the reason to refuse a use of a store to a viewer. Nil to permit all.
  ///   - hooks: Observers of each store of this kind.
  ///   - machine: Creates the machine of one store for the participant that opens it; after a
  ///     restart only its identity is known. Throws if the configuration cannot be used.
  public init<Configuration: Decodable & Sendable, Machine: StateMachine>(
    _ name: String, configuration: Configuration.Type, scope: StoreScope = .session,
    refusing: Refusing? = nil, hooks: [Hook<Machine>] = [],
    openedBy machine:
      @escaping @Sendable (Configuration, Viewer) throws(ConfigurationError) -> Machine
  ) {
    self.init(
      name, configuration, scope, refusing, Nothing.init(of:), nil, nil, hooks
    ) { configuration, _, viewer, _ throws(ConfigurationError) in
      try machine(configuration, viewer)
    }
  }

  /// Creates a kind with a configuration, whose machines depend on the participant that opens the
  /// store and on the name of the store.
  ///
  /// - Parameters:
  ///   - name: The name in `store/open`.
  ///   - configuration: The type of the configuration. It is decoded from the object in
  ///     `store/open`, from `{}` if there is none.
  ///   - scope: The sessions that use one store.
  ///   - refusing: Returns the reason to refuse a use of a store to a viewer. Nil to permit all.
  ///   - hooks: Observers of each store of this kind.
  ///   - machine: Creates the machine of one store for the participant that opens it, and with the
  ///     name in `store/open`; after a restart only the participant's identity is known. Throws if the
  ///     configuration cannot be used.
  public init<Configuration: Decodable & Sendable, Machine: StateMachine>(
    _ name: String, configuration: Configuration.Type, scope: StoreScope = .session,
    refusing: Refusing? = nil, hooks: [Hook<Machine>] = [],
    openedBy machine:
      @escaping @Sendable (Configuration, Viewer, _ store: String) throws(ConfigurationError) ->
      Machine
  ) {
    self.init(
      name, configuration, scope, refusing, Nothing.init(of:), nil, nil, hooks
    ) { configuration, _, viewer, store throws(ConfigurationError) in
      try machine(configuration, viewer, store)
    }
  }

  private init<Configuration: Decodable & Sendable, Shared: Sendable, Machine: StateMachine>(
    _ name: String, _ configuration: Configuration.Type, _ scope: StoreScope,
    _ refusing: Refusing?, _ sharing: @escaping @Sendable (_ identity: String?) -> Shared,
    _ admitting: (@Sendable (Configuration, Shared) throws(ConfigurationError) -> Void)?,
    _ preparing: (@Sendable (Configuration) -> (@Sendable () -> any Sendable)?)?,
    _ hooks: [Hook<Machine>],
    _ machine:
      @escaping @Sendable (Configuration, Shared, Viewer, _ store: String)
      throws(ConfigurationError) -> Machine
  ) {
    self.name = name
    self.refusing = refusing
    self.scope = scope
    describe = { Description($0, Configuration.self, Machine.self) }
    admit = { configuration, session throws(JSONError) in
      guard let admitting, let configuration = configuration as? Configuration else { return }
      do throws(ConfigurationError) {
        try admitting(configuration, session.sharedValue(of: name, sharing))
      } catch {
        throw JSONError(error)
      }
    }
    checkDecoded = { state, version, configuration throws(JSONError) in
      guard let configuration = configuration as? Configuration else { return }
      let made: Machine
      do throws(ConfigurationError) {
        made = try machine(configuration, sharing(nil), .server, name)
      } catch {
        throw JSONError(error)
      }
      try made.checkPersistedState(state, version: version)
    }
    preparation = { configuration, _, _, _ in
      guard let work = (configuration as? Configuration).flatMap({ preparing?($0) }) else {
        return nil
      }
      return { .success(work()) }
    }
    requiresPreparation = false
    read = { value throws(JSONError) in try JSON.decode(Configuration.self, from: value) }
    checkInitialState = { () throws(JSONError) in
      guard let configuration = try? JSON.decode(Configuration.self, from: .object([:])),
        let made = try? machine(configuration, sharing(nil), .server, name)
      else { return }
      try made.checkInitialState()
    }
    make = { [admit] configuration, parameters throws(JSONError) in
      if parameters.origin.state == nil { try admit(configuration, parameters.session) }
      guard let configuration = configuration as? Configuration else {
        preconditionFailure("the configuration was decoded for another kind")
      }
      let made: Machine
      do throws(ConfigurationError) {
        made = try machine(
          configuration, parameters.session.sharedValue(of: name, sharing), parameters.viewer,
          parameters.store
        )
      } catch {
        throw JSONError(error)
      }
      let observerHooks = parameters.observers.compactMap {
        $0.hook(for: made, store: parameters.observed)
      }
      return try parameters.store(of: made, hooks: hooks + observerHooks)
    }
  }

  /// Creates a kind whose stores are prepared by another party, for example another process.
  ///
  /// - Parameters:
  ///   - name: The name in `store/open`.
  ///   - scope: The sessions that use one store.
  ///   - checkInitialState: Checks the kind when the server starts.
  ///   - checkState: Checks that a store can read a state, given its version.
  ///   - describe: Returns the schemas of the kind.
  ///   - preparing: Returns the work before a store is opened.
  ///   - make: Creates a store with its configuration. `StoreParameters.prepared` is the value of the
  ///     preparation; nil for a store that is restored.
  package init(
    preparing name: String, scope: StoreScope,
    checkInitialState: @escaping @Sendable () throws(JSONError) -> Void,
    checkState: @escaping @Sendable (JSONValue, _ version: Int) throws(JSONError) -> Void,
    describe: @escaping @Sendable (JSONSchemas) -> Description,
    preparing:
      @escaping @Sendable (JSONValue, _ store: String, Viewer, any StoreClock) -> Preparation,
    make: @escaping @Sendable (JSONValue, StoreParameters) throws(JSONError) -> Made
  ) {
    self.name = name
    self.scope = scope
    refusing = nil
    read = { value throws(JSONError) in
      guard case .object = value else {
        throw JSONError(.type, "the configuration must be an object")
      }
      return value
    }
    self.make = { configuration, parameters throws(JSONError) in
      try make(configuration as? JSONValue ?? .object([:]), parameters)
    }
    admit = { _, _ throws(JSONError) in }
    preparation = { configuration, store, viewer, clock in
      preparing(configuration as? JSONValue ?? .object([:]), store, viewer, clock)
    }
    requiresPreparation = true
    self.checkInitialState = checkInitialState
    checkDecoded = { state, version, _ throws(JSONError) in try checkState(state, version) }
    self.describe = describe
  }

  /// Checks that a store of this kind can read a persisted state.
  ///
  /// - Parameters:
  ///   - state: The folded state.
  ///   - version: The version of the machine that has persisted it.
  ///   - configuration: The configuration of the store.
  /// - Throws: `JSONError` with the path into the state; also if the kind refuses the configuration
  ///   or its states are not persisted.
  public func checkState(
    _ state: JSONValue, version: Int, configuration: JSONValue
  ) throws(JSONError) {
    try checkDecoded(state, version, read(configuration))
  }

  /// Returns the kind with members whose values are secrets of users.
  ///
  /// - Parameter members: The names of the members, at any depth of states, inputs and events.
  public func concealing(_ members: String...) -> StoreKind {
    var kind = self
    kind.secretMembers.formUnion(members)
    return kind
  }
}

/// The shared value of kinds whose stores share nothing.
private struct Nothing: Sendable {
  init() {}
  init(of identity: String?) {}
}

/// The configuration of kinds without one: an object with any members.
struct NoConfiguration: Decodable {
  private enum CodingKeys: CodingKey {}
  init(from decoder: any Decoder) throws {
    _ = try decoder.container(keyedBy: CodingKeys.self)
  }
}

extension JSONError {
  fileprivate init(_ error: ConfigurationError) {
    self.init(error.code, error.message, path: error.path.map { .key($0) })
  }
}
