// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

extension KeyedList: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }

  /// Returns the schema of an array of the element type.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .array(of: try schemas.schema(of: Element.self))
  }
}
