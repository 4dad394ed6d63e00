// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The members of the schemas of a store kind.
public struct SchemaMembers {
  /// The names of all members.
  public private(set) var names: Set<String> = []
  /// The names of the members whose schema has `"writeOnly": true` or `"format": "password"`, which
  /// programs of other languages use for secrets. The schema can be that of a case, of an element, or
  /// of a reference, at any depth.
  public private(set) var secrets: Set<String> = []
  /// The values of `type` by which cases are distinguished.
  public private(set) var types: Set<String> = []
  private let document: JSONValue
  private var seen: Set<String> = []

  /// Collects the members of a schema and of those to which it refers.
  ///
  /// - Parameters:
  ///   - schema: The schema, or a value with several.
  ///   - document: The document that contains the targets of references.
  public init(of schema: JSONValue, in document: JSONValue) {
    self.document = document
    read(schema)
  }

  private mutating func read(_ schema: JSONValue) {
    switch schema {
    case .array(let elements):
      for element in elements { read(element) }
    case .object(let members):
      for (name, schema) in members["properties"]?.object ?? [:] {
        names.insert(name)
        if isSecret(schema) { secrets.insert(name) }
        if name == "type", let type = schema["const"]?.string { types.insert(type) }
      }
      if let reference = members["$ref"]?.string, seen.insert(reference).inserted {
        read(target(of: reference))
      }
      for (_, value) in members { read(value) }
    case .null, .bool, .number, .string: break
    }
  }

  /// The keywords whose schemas describe the same value as the schema that has them, or a part of it
  /// without a name.
  private static let parts = [
    "additionalProperties", "allOf", "anyOf", "items", "oneOf", "prefixItems",
  ]

  private func isSecret(_ schema: JSONValue) -> Bool {
    var seen: Set<String> = []
    return isSecret(schema, &seen)
  }

  /// - Parameter seen: The references that have been followed; a schema can contain itself.
  private func isSecret(_ schema: JSONValue, _ seen: inout Set<String>) -> Bool {
    if let schemas = schema.array {
      for schema in schemas where isSecret(schema, &seen) { return true }
      return false
    }
    if schema["writeOnly"] == true || schema["format"] == "password" { return true }
    if let reference = schema["$ref"]?.string, seen.insert(reference).inserted,
      isSecret(target(of: reference), &seen)
    {
      return true
    }
    for part in Self.parts {
      if let schema = schema[part], isSecret(schema, &seen) { return true }
    }
    return false
  }

  private func target(of reference: String) -> JSONValue {
    guard reference.hasPrefix("#"),
      let pointer = try? JSONPointer(parsing: String(reference.dropFirst()))
    else { return .null }
    return document[pointer] ?? .null
  }
}
