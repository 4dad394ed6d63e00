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
    /// The faults of these types that make their schemas say less than they should, each in one
    /// sentence.
    public let warnings: [String]

    /// Creates the description of a kind whose schemas are known.
    package init(
      configuration: JSONSchema, input: JSONSchema, viewState: JSONSchema, event: JSONSchema?
    ) {
      (self.configuration, self.input, self.viewState) = (configuration, input, viewState)
      self.event = event
      warnings = []
    }

    init<Configuration: Decodable, Machine: StateMachine>(
      _ schemas: JSONSchemas, _ configuration: Configuration.Type, _ machine: Machine.Type
    ) {
      var warnings: [String] = []
      func warned(_ part: String, _ schema: JSONSchema) -> JSONSchema {
        warnings += schemas.takeWarnings().map { warning in
          let path = ([part] + warning.path).joined(separator: ".")
          return "\(path): \(warning.message)"
        }
        return schema
      }
      self.configuration = warned("config", schemas.read(Configuration.self))
      input = warned("input", schemas.read(Machine.Input.self))
      viewState = warned("viewState", schemas.written(Machine.ViewState.self))
      event =
        Machine.Event.self == Never.self
        ? nil : warned("event", schemas.written(Machine.Event.self))
      self.warnings = warnings
    }
  }

  /// Returns the schemas of the kind's stores.
  ///
  /// - Parameter schemas: Derives schemas from types, and collects those with a name.
  public func description(in schemas: JSONSchemas) -> Description { describe(schemas) }
}
