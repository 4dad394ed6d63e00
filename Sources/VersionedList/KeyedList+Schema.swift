// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

extension KeyedList: JSONDescribed {
  public static var isDescribedByName: Bool { false }

  /// On the wire it is an array.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .array(of: try schemas.schema(of: Element.self))
  }
}
