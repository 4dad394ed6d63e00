// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON

extension ProgramDescription {
  /// Returns the schemas for the description of the server.
  ///
  /// - Parameters:
  ///   - schemas: Collects the definitions of the program under names that begin with the kind.
  ///   - kind: The name of the kind.
  func described(in schemas: JSONSchemas, kind: String) -> StoreKind.Description {
    func adopted(_ schema: JSONSchema?, _ part: String) -> JSONSchema? {
      schema.map { schemas.adopt($0, namedAfter: kind + part) }
    }
    return StoreKind.Description(
      configuration: adopted(configuration, "Configuration") ?? .anything,
      input: adopted(input, "Input") ?? .anything,
      viewState: adopted(viewState, "View") ?? .anything, event: adopted(event, "Event"))
  }
}
