// SPDX-License-Identifier: Apache-2.0

/// A type that provides its own JSON Schema.
///
/// Most types need not conform: the members that a synthesized `Codable` requires are determined by
/// decoding it from "", 0, `[]` and similar values. The protocol is for types with their own
/// coding, and for types whose decoding would trap for such values.
public protocol JSONDescribed {
  /// True if the schema is a definition with the type's name; false if it is written wherever the
  /// type is used.
  static var isDescribedByName: Bool { get }

  /// Returns the JSON Schema of the type. It has an example if "" or 0 is not a value of the type.
  ///
  /// - Parameter schemas: The collection that provides the schemas of other types.
  /// - Throws: Errors of `schemas`, for types that contain themselves.
  static func schema(in schemas: JSONSchemas) throws -> JSONSchema
}

extension JSONDescribed {
  /// True: the schema is a definition with the type's name.
  public static var isDescribedByName: Bool { true }
}

extension JSONValue: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of any value.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .anything }
}

extension JSONObject: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of an object with any members.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .object([]) }
}

extension JSONNumber: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of a number.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .number() }
}

extension JSONPatch: JSONDescribed {
  /// Returns the schema of an array of operations.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .array(of: try schemas.schema(of: Operation.self))
  }
}

extension JSONPatch.Operation: JSONDescribed {
  /// Returns the schema of an operation, without `test`, which the server never sends.
  ///
  /// - Source: RFC 6902 §4.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    // RFC 6901 §3
    let pointer = JSONSchema.string(pattern: "^(/([^~/]|~[01])*)*$")
    let (path, from) = (JSONSchema.Member.member("path", pointer), pointer)
    let value = JSONSchema.Member.member("value", .anything)
    return .oneOf([
      .tagged("add", [path, value], by: "op"),
      .tagged("remove", [path], by: "op"),
      .tagged("replace", [path, value], by: "op"),
      .tagged("move", [.member("from", from), path], by: "op"),
      .tagged("copy", [.member("from", from), path], by: "op"),
    ])
  }
}

// MARK: - Types of the standard library

extension Optional: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of the wrapped type or null.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.schema(of: Wrapped.self).orNull
  }
}

extension Array: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of an array of the element type.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .array(of: try schemas.schema(of: Element.self))
  }
}

extension ContiguousArray: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of an array of the element type.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .array(of: try schemas.schema(of: Element.self))
  }
}

extension Float16: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of a number.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .number() }
}
