// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

/// A sort of store that frontends can open: a name, and how to make its machine.
///
/// ```swift
/// StoreKind("stopwatch") { Stopwatch() }
/// StoreKind("todo", configuration: TodoConfiguration.self) { TodoStore($0) }
/// ```
public struct StoreKind: Sendable {
  /// What `store/open` calls it, and the name under which it opens by itself.
  public let name: String
  let read: @Sendable (JSONValue) throws(JSONError) -> any Sendable
  /// Makes a store with a configuration that was read.
  let make: @Sendable (any Sendable, Seat) throws(JSONError) -> Made
  /// Makes sure that there is room for a store with a configuration.
  let admit: @Sendable (any Sendable, SharedValues) throws(JSONError) -> Void
  /// The work of another thread before a store is opened with a configuration; nil if there is none.
  let preparation: @Sendable (any Sendable) -> (@Sendable () -> any Sendable)?
  /// What its stores read and write; see `description(in:)`.
  let describe: @Sendable (JSONSchemas) -> Description

  /// A kind without configuration.
  /// - Parameters:
  ///   - name: What `store/open` calls it.
  ///   - hooks: Observers of each store of this kind.
  ///   - machine: Makes the machine of one store.
  public init<Machine: StateMachine>(
    _ name: String, hooks: [Hook<Machine>] = [], _ machine: @escaping @Sendable () -> Machine
  ) {
    self.init(name, configuration: NoConfiguration.self, hooks: hooks) { _ in machine() }
  }

  /// A kind that is configured when it is opened.
  ///
  /// - Parameters:
  ///   - name: What `store/open` calls it.
  ///   - configuration: Read from the object given to `store/open`, from `{}` if there is none.
  ///   - hooks: Observers of each store of this kind.
  ///   - machine: Makes the machine of one store; throws if the configuration cannot be used.
  public init<Configuration: Decodable & Sendable, Machine: StateMachine>(
    _ name: String, configuration: Configuration.Type, hooks: [Hook<Machine>] = [],
    _ machine: @escaping @Sendable (Configuration) throws(ConfigurationError) -> Machine
  ) {
    self.init(name, configuration: configuration, sharing: Nothing.init, hooks: hooks) {
      configuration, _ throws(ConfigurationError) in try machine(configuration)
    }
  }

  /// A kind that is configured when it is opened, and whose stores in one session share something,
  /// a cache say.
  ///
  /// - Parameters:
  ///   - name: What `store/open` calls it.
  ///   - configuration: Read from the object given to `store/open`, from `{}` if there is none.
  ///   - sharing: Makes what the stores of one session share, with the first of them.
  ///   - admitting: Asked before a store is made, though not before one comes back after a restart;
  ///     throws if there is no room for another one. Nil: there always is.
  ///   - hooks: Observers of each store of this kind.
  ///   - machine: Makes the machine of one store; throws if the configuration cannot be used.
  public init<Configuration: Decodable & Sendable, Shared: Sendable, Machine: StateMachine>(
    _ name: String, configuration: Configuration.Type,
    sharing: @escaping @Sendable () -> Shared,
    admitting: (@Sendable (Configuration, Shared) throws(ConfigurationError) -> Void)? = nil,
    hooks: [Hook<Machine>] = [],
    _ machine: @escaping @Sendable (Configuration, Shared) throws(ConfigurationError) -> Machine
  ) {
    self.init(
      name, configuration: configuration, sharingWithin: { _ in sharing() }, admitting: admitting,
      hooks: hooks, machine)
  }

  /// A kind as above, whose stores in one session share what depends on whom the session belongs to.
  ///
  /// - Parameters:
  ///   - name: What `store/open` calls it.
  ///   - configuration: Read from the object given to `store/open`, from `{}` if there is none.
  ///   - sharing: Makes what they share; gets the name of the session's identity, nil where there are no
  ///     identities.
  ///   - admitting: Asked before a store is made, as above.
  ///   - preparing: What makes something that takes long to make, on another thread before a store is opened, for
  ///     `machine` to find: it is there until the store is. Nil, or for a configuration: there is no such thing.
  ///   - hooks: Observers of each store of this kind.
  ///   - machine: Makes the machine of one store; throws if the configuration cannot be used.
  public init<Configuration: Decodable & Sendable, Shared: Sendable, Machine: StateMachine>(
    _ name: String, configuration: Configuration.Type,
    sharingWithin sharing: @escaping @Sendable (_ identity: String?) -> Shared,
    admitting: (@Sendable (Configuration, Shared) throws(ConfigurationError) -> Void)? = nil,
    preparing: (@Sendable (Configuration) -> (@Sendable () -> any Sendable)?)? = nil,
    hooks: [Hook<Machine>] = [],
    _ machine: @escaping @Sendable (Configuration, Shared) throws(ConfigurationError) -> Machine
  ) {
    self.name = name
    describe = { Description($0, Configuration.self, Machine.self) }
    admit = { configuration, shared throws(JSONError) in
      guard let admitting, let configuration = configuration as? Configuration else { return }
      do throws(ConfigurationError) {
        try admitting(configuration, shared.value(name, sharing))
      } catch {
        throw JSONError(error)
      }
    }
    preparation = { configuration in (configuration as? Configuration).flatMap { preparing?($0) } }
    read = { value throws(JSONError) in try JSON.decode(Configuration.self, from: value) }
    make = { [admit] configuration, seat throws(JSONError) in
      if seat.origin.state == nil { try admit(configuration, seat.shared) }
      guard let configuration = configuration as? Configuration else {
        preconditionFailure("the configuration was read for another kind")
      }
      let made: Machine
      do throws(ConfigurationError) {
        made = try machine(configuration, seat.shared.value(name, sharing))
      } catch {
        throw JSONError(error)
      }
      let (origin, seatHooks) = (
        seat.origin, seat.observers.compactMap { $0.hook(for: made, store: seat.store) }
      )
      guard let state = origin.state else {
        return Made(
          try Store(
            made, number: seat.number, host: seat.host, environment: seat.environment,
            hooks: hooks + seatHooks, revision: origin.revision,
            lastOperation: origin.lastOperation))
      }
      return Made(
        try Store(
          restoring: made, number: seat.number, host: seat.host, environment: seat.environment,
          hooks: hooks + seatHooks, revision: origin.revision, lastOperation: origin.lastOperation,
          state: state))
    }
  }

  /// A store, and the way of its inputs.
  struct Made {
    /// Reads an input and takes it; see `AnyStore.send`.
    ///
    /// A closure beside the protocol's method: it is made where the machine is known, so that the
    /// compiler can make one piece of all that an input goes through.
    typealias Send = (inout JSONReader) throws(InputError) -> SendResult?

    let store: any AnyStore
    let send: Send

    init<Machine: StateMachine>(_ store: Store<Machine>) {
      self.store = store
      send = { reader throws(InputError) in try store.send(reading: &reader) }
    }

    init(closed store: ClosedStore) {
      self.store = store
      send = { _ throws(InputError) in throw .closed }
    }
  }

  /// Where a new store takes its place.
  struct Seat {
    let store: String
    let number: StoreNumber
    let host: any StoreHost
    let environment: StoreEnvironment
    let observers: [any StoreObserver]
    let shared: SharedValues
    let origin: StoreOrigin
  }
}

/// Where a store begins.
struct StoreOrigin {
  /// The revision of its first state.
  var revision: Revision = 0
  /// The last input that had a number under its name.
  var lastOperation: UInt64 = 0
  /// The folded state, if it goes on from one.
  var state: JSONValue?
}

extension StoreOrigin {
  /// Where the next store begins that gets the name of one.
  init(after store: any AnyStore) {
    self.init(revision: store.revision + 1, lastOperation: store.lastOperation)
  }
}

/// What the stores of a kind share that share nothing.
private struct Nothing: Sendable {}

/// What the stores of one kind in one session share, by the kind's name.
final class SharedValues {
  /// The identity that the session belongs to; nil where there are none.
  var identity: String?
  private var values = ByName<any Sendable>()

  func value<Value: Sendable>(_ kind: String, _ make: (_ identity: String?) -> Value) -> Value {
    if let value = values[kind] as? Value { return value }
    let value = make(identity)
    values[kind] = value
    return value
  }
}

/// What a kind without configuration accepts: an object, whatever is in it.
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
