// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON

extension StoreKind {
  /// The schemas of the stores of a kind.
  public struct Description {
    /// The schema of the configuration in `store/open`.
    public let configuration: JSONSchema
    /// The schema of the inputs.
    public let input: JSONSchema
    /// The schema of the view state.
    public let viewState: JSONSchema
    /// The schema of the events; nil if the stores have no events.
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

  /// Returns the schemas of the kind's stores.
  ///
  /// - Parameter schemas: Derives schemas from types, and collects those with a name.
  public func description(in schemas: JSONSchemas) -> Description { describe(schemas) }
}
