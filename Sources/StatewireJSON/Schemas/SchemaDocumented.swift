// SPDX-License-Identifier: Apache-2.0

/// A type with texts that explain it and its members to the authors of clients.
///
/// The texts are the `description`s in the type's schema, from which generated types get their
/// comments.
///
/// ```swift
/// struct Card: Codable, SchemaDocumented {
///   var title: String
///   var due: Date?
///   static let schemaDescription: String? = "A task on the board."
///   static let memberDescriptions = ["due": "The day on which the card turns red."]
/// }
/// ```
public protocol SchemaDocumented {
  /// The text that explains the type; nil for none.
  static var schemaDescription: String? { get }

  /// The texts that explain members, by the name of the member on the wire.
  ///
  /// For an enum, the names are those of the cases; a member of a payload is `case.member`.
  static var memberDescriptions: [String: String] { get }
}

extension SchemaDocumented {
  /// Nil: no text explains the type.
  public static var schemaDescription: String? { nil }
  /// Empty: no text explains a member.
  public static var memberDescriptions: [String: String] { [:] }
}

extension JSONSchema {
  /// Returns the same schema with the descriptions of a type.
  ///
  /// - Parameter unknown: Is called with each name that the schema does not have.
  func documented(
    by type: any SchemaDocumented.Type, unknown: (String) -> Void
  ) -> JSONSchema {
    var rest = type.memberDescriptions
    var schema = documentingMembers(with: &rest, prefix: "")
    schema.documentCases(with: &rest)
    rest.keys.sorted().forEach(unknown)
    return type.schemaDescription.map(schema.described) ?? schema
  }

  private func documentingMembers(
    with texts: inout [String: String], prefix: String
  ) -> JSONSchema {
    guard case .object(var properties)? = keywords["properties"] else { return self }
    for (name, schema) in properties {
      guard case .object(let keywords) = schema,
        let text = texts.removeValue(forKey: prefix + name)
      else { continue }
      properties[name] = JSONSchema(keywords).described(text).value
    }
    var documented = self
    documented.keywords["properties"] = .object(properties)
    return documented
  }

  private mutating func documentCases(with texts: inout [String: String]) {
    if let values = keywords["enum"]?.array {
      // JSON Schema has no place for the description of one of several values.
      var descriptions: JSONObject = [:]
      for value in values {
        let name = value.string ?? "\(value)"
        if let text = texts.removeValue(forKey: name) { descriptions[name] = .string(text) }
      }
      if !descriptions.isEmpty { keywords["x-enum-descriptions"] = .object(descriptions) }
    }
    guard let cases = keywords["oneOf"]?.array else { return }
    var documented: [JSONValue] = []
    for one in cases {
      guard case .object(let keywords) = one, let name = JSONSchema(keywords).caseName else {
        documented.append(one)
        continue
      }
      var schema = JSONSchema(keywords).documentingMembers(with: &texts, prefix: name + ".")
      if let text = texts.removeValue(forKey: name) { schema = schema.described(text) }
      documented.append(schema.value)
    }
    keywords["oneOf"] = .array(documented)
  }
}
