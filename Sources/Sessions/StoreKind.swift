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
  let make: @Sendable (JSONValue, Seat) throws(JSONError) -> any AnyStore

  /// A kind without configuration.
  /// - Parameters:
  ///   - name: What `store/open` calls it.
  ///   - machine: Makes the machine of one store.
  public init<Machine: StateMachine>(
    _ name: String, _ machine: @escaping @Sendable () -> Machine
  ) {
    self.init(name, configuration: NoConfiguration.self) { _ in machine() }
  }

  /// A kind that is configured when it is opened.
  ///
  /// - Parameters:
  ///   - name: What `store/open` calls it.
  ///   - configuration: Read from the object given to `store/open`, from `{}` if there is none.
  ///   - machine: Makes the machine of one store.
  public init<Configuration: Decodable & Sendable, Machine: StateMachine>(
    _ name: String, configuration: Configuration.Type,
    _ machine: @escaping @Sendable (Configuration) -> Machine
  ) {
    self.name = name
    make = { value, seat throws(JSONError) in
      let configuration = try JSON.decode(Configuration.self, from: value)
      return try Store(
        machine(configuration), number: seat.number, host: seat.host, clock: seat.clock,
        revision: seat.revision)
    }
  }

  /// Where a new store takes its place.
  struct Seat {
    let number: StoreNumber
    let host: any StoreHost
    let clock: any StoreClock
    let revision: Revision
  }
}

/// What a kind without configuration accepts: an object, whatever is in it.
struct NoConfiguration: Decodable {
  private enum CodingKeys: CodingKey {}
  init(from decoder: any Decoder) throws {
    _ = try decoder.container(keyedBy: CodingKeys.self)
  }
}
