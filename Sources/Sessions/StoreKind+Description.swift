// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON

extension StoreKind {
  /// What the stores of a kind read and write, as schemas.
  public struct Description {
    /// What `store/open` is given.
    public let configuration: JSONSchema
    public let input: JSONSchema
    public let viewState: JSONSchema
    /// Nil if nothing happens in them that is not state.
    public let event: JSONSchema?

    init<Configuration: Decodable, Machine: StateMachine>(
      _ schemas: JSONSchemas, _ configuration: Configuration.Type, _ machine: Machine.Type
    ) {
      self.configuration = schemas.read(Configuration.self)
      input = schemas.read(Machine.Input.self)
      viewState = schemas.written(Machine.ViewState.self)
      event = Machine.Event.self == Never.self ? nil : schemas.written(Machine.Event.self)
    }
  }

  /// What its stores read and write.
  ///
  /// - Parameter schemas: Finds out what the types look like, and collects those with a name.
  public func description(in schemas: JSONSchemas) -> Description { describe(schemas) }
}
