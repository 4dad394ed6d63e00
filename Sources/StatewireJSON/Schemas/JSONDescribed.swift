// SPDX-License-Identifier: Apache-2.0

/// A type that says itself what its JSON looks like.
///
/// Most types need not: what a synthesized `Codable` asks for is seen by decoding it from "", 0, `[]` and
/// the like. This is for those with code of their own, and for those whose decoding would trap at these.
public protocol JSONDescribed {
  /// Whether its schema has a name, the type's; otherwise it stands wherever it is used.
  static var isDescribedByName: Bool { get }

  /// The schema. Where "" or 0 is no value of the type it has an example.
  ///
  /// - Parameter schemas: Knows the schemas of other types.
  static func schema(in schemas: JSONSchemas) throws -> JSONSchema
}

extension JSONDescribed {
  public static var isDescribedByName: Bool { true }
}

extension JSONValue: JSONDescribed {
  public static var isDescribedByName: Bool { false }
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .anything }
}

extension JSONObject: JSONDescribed {
  public static var isDescribedByName: Bool { false }
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .object([]) }
}

extension JSONNumber: JSONDescribed {
  public static var isDescribedByName: Bool { false }
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .number() }
}

extension JSONPatch: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .array(of: try schemas.schema(of: Operation.self))
  }
}

extension JSONPatch.Operation: JSONDescribed {
  /// - Source: RFC 6902 §4. Without `test`, which is never sent.
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

// MARK: - The standard library's

extension Optional: JSONDescribed {
  public static var isDescribedByName: Bool { false }
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.schema(of: Wrapped.self).orNull
  }
}

extension Array: JSONDescribed {
  public static var isDescribedByName: Bool { false }
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .array(of: try schemas.schema(of: Element.self))
  }
}

extension Set: JSONDescribed {
  public static var isDescribedByName: Bool { false }
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .array(of: try schemas.schema(of: Element.self))
  }
}

extension Dictionary: JSONDescribed {
  public static var isDescribedByName: Bool { false }
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    // With other keys it is an array, of keys and values in turn.
    guard Key.self == String.self else { return .array(of: .anything) }
    return .map(of: try schemas.schema(of: Value.self))
  }
}
