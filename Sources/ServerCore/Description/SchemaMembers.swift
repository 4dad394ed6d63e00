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
  /// The number of schemas that are still looked through for secrets.
  private var steps = 200_000
  /// The references that lead to no secret.
  private var plain: Set<String> = []

  /// Collects the members of a schema and of those to which it refers.
  ///
  /// - Parameters:
  ///   - schema: The schema, or a value with several.
  ///   - document: The document that contains the targets of references.
  public init(of schema: JSONValue, in document: JSONValue) {
    self.document = document
    // A list of what is left, because references may lead from one definition to the next without end.
    var left = [schema]
    while let next = left.popLast() {
      switch next {
      case .array(let elements): left += elements
      case .object(let members):
        read(members)
        left += members.map(\.value)
        if let reference = members["$ref"]?.string, seen.insert(reference).inserted {
          left.append(target(of: reference))
        }
      case .null, .bool, .number, .string: break
      }
    }
  }

  private mutating func read(_ members: JSONObject) {
    for (name, schema) in members["properties"]?.object ?? [:] {
      names.insert(name)
      if isSecret(schema) { secrets.insert(name) }
      if name == "type", let type = schema["const"]?.string { types.insert(type) }
    }
  }

  /// The keywords whose schemas describe the same value as the schema that has them, or a part of it
  /// without a name.
  private static let parts = [
    "additionalProperties", "allOf", "anyOf", "items", "oneOf", "prefixItems",
  ]

  private mutating func isSecret(_ schema: JSONValue) -> Bool {
    // The references that have been followed; a schema can contain itself.
    var seen: Set<String> = []
    var left = [schema]
    while let next = left.popLast() {
      // Members of a description that takes too long to look through count as secret.
      steps -= 1
      if steps < 0 || next["writeOnly"] == true || next["format"] == "password" { return true }
      if let schemas = next.array {
        left += schemas
        continue
      }
      left += Self.parts.compactMap { next[$0] }
      if let reference = next["$ref"]?.string, !plain.contains(reference),
        seen.insert(reference).inserted
      {
        left.append(target(of: reference))
      }
    }
    plain.formUnion(seen)
    return false
  }

  private func target(of reference: String) -> JSONValue {
    guard reference.hasPrefix("#"),
      let pointer = try? JSONPointer(parsing: String(reference.dropFirst()))
    else { return .null }
    return document[pointer] ?? .null
  }
}
