// SPDX-License-Identifier: Apache-2.0

/// A JSON Schema: the set of allowed JSON values.
///
/// It uses only keywords that draft-07 and 2020-12 have in common. Objects may always have further
/// members, because readers on both sides of the wire ignore unknown members.
///
/// - Source: JSON Schema Validation, draft-07 and 2020-12 §6.
public struct JSONSchema: Equatable, Sendable {
  /// The keywords; a schema without keywords allows every value.
  public var keywords: JSONObject

  /// Creates a schema of keywords.
  public init(_ keywords: JSONObject) { self.keywords = keywords }

  /// The schema as JSON.
  public var value: JSONValue { .object(keywords) }
}

// MARK: - Scalars

extension JSONSchema {
  /// The schema that allows every value.
  public static var anything: JSONSchema { JSONSchema([:]) }

  /// The schema that allows only null.
  public static var null: JSONSchema { JSONSchema(["type": "null"]) }

  /// The schema that allows true and false.
  public static var boolean: JSONSchema { JSONSchema(["type": "boolean"]) }

  /// Returns the schema of a whole number.
  ///
  /// - Parameters:
  ///   - minimum: The least allowed value; nil for no bound.
  ///   - maximum: The greatest allowed value; nil for no bound.
  public static func integer(minimum: Int? = nil, maximum: Int? = nil) -> JSONSchema {
    number("integer", minimum, maximum)
  }

  /// Returns the schema of a number.
  ///
  /// - Parameters:
  ///   - minimum: The least allowed value; nil for no bound.
  ///   - maximum: The greatest allowed value; nil for no bound.
  public static func number(minimum: Int? = nil, maximum: Int? = nil) -> JSONSchema {
    number("number", minimum, maximum)
  }

  private static func number(_ type: String, _ minimum: Int?, _ maximum: Int?) -> JSONSchema {
    var keywords: JSONObject = ["type": .string(type)]
    if let minimum { keywords["minimum"] = .number(JSONNumber(minimum)) }
    if let maximum { keywords["maximum"] = .number(JSONNumber(maximum)) }
    return JSONSchema(keywords)
  }

  /// Returns the schema of a string.
  ///
  /// - Parameters:
  ///   - bytes: The greatest allowed length in bytes of UTF-8. A schema counts characters; a string
  ///     has no more characters than bytes.
  ///   - minimumLength: The least allowed length in characters.
  ///   - pattern: A regular expression that matches some part of the string.
  ///   - format: The name of the format, such as `date-time`, for readers that know it.
  ///   - example: An allowed string, for a schema that does not allow "".
  public static func string(
    maximumBytes bytes: Int? = nil, minimumLength: Int? = nil, pattern: String? = nil,
    format: String? = nil, example: String? = nil
  ) -> JSONSchema {
    var keywords: JSONObject = ["type": "string"]
    if let minimumLength { keywords["minLength"] = .number(JSONNumber(minimumLength)) }
    if let bytes { keywords["maxLength"] = .number(JSONNumber(bytes)) }
    if let pattern { keywords["pattern"] = .string(pattern) }
    if let format { keywords["format"] = .string(format) }
    if let example { keywords["examples"] = .array([.string(example)]) }
    return JSONSchema(keywords)
  }

  /// Returns the schema that allows one of several values.
  public static func oneOf(values: [JSONValue]) -> JSONSchema {
    var keywords: JSONObject = [:]
    if values.allSatisfy({ $0.string != nil }) { keywords["type"] = "string" }
    keywords["enum"] = .array(values)
    return JSONSchema(keywords)
  }

  /// Returns the schema that allows one of several strings.
  public static func oneOf(names: [String]) -> JSONSchema {
    oneOf(values: names.map { .string($0) })
  }

  /// The same schema, marked as open: names may be added at any time, so a reader must accept any
  /// name.
  public var open: JSONSchema {
    var open = self
    open.keywords["x-open"] = true
    return open
  }

  /// Returns the schema that allows only this string.
  public static func constant(_ text: String) -> JSONSchema {
    JSONSchema(["type": "string", "const": .string(text)])
  }
}

// MARK: - Arrays and objects

extension JSONSchema {
  /// Returns the schema of an array whose elements have one schema.
  public static func array(of element: JSONSchema, isEmptyAllowed: Bool = true) -> JSONSchema {
    var keywords: JSONObject = ["type": "array", "items": element.value]
    if !isEmptyAllowed { keywords["minItems"] = 1 }
    return JSONSchema(keywords)
  }

  /// Returns the schema of an object with any keys, whose values have one schema.
  public static func map(of value: JSONSchema) -> JSONSchema {
    JSONSchema(["type": "object", "additionalProperties": value.value])
  }

  /// A member of an object.
  public struct Member: Equatable, Sendable {
    /// The key of the member.
    public var name: String
    /// The schema of the member's value.
    public var schema: JSONSchema
    /// True if the member must be present.
    public var isRequired: Bool

    /// Returns a member that is always present.
    public static func member(_ name: String, _ schema: JSONSchema) -> Member {
      Member(name: name, schema: schema, isRequired: true)
    }

    /// Returns a member that may be absent but not null.
    public static func omissible(_ name: String, _ schema: JSONSchema) -> Member {
      Member(name: name, schema: schema, isRequired: false)
    }

    /// Returns a member that may be absent or null.
    public static func optional(_ name: String, _ schema: JSONSchema) -> Member {
      Member(name: name, schema: schema.orNull, isRequired: false)
    }
  }

  /// The members of the object.
  var members: [Member] {
    guard case .object(let properties)? = keywords["properties"] else { return [] }
    let required = keywords["required"]?.array ?? []
    return properties.compactMap { name, schema in
      schema.object.map {
        Member(
          name: name, schema: JSONSchema($0), isRequired: required.contains(.string(name)))
      }
    }
  }

  /// Returns the schema of an object with these members; other members are allowed.
  public static func object(_ members: [Member]) -> JSONSchema {
    var keywords: JSONObject = ["type": "object"]
    if !members.isEmpty {
      keywords["properties"] = .object(JSONObject(members.map { ($0.name, $0.schema.value) }))
    }
    let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
    if !required.isEmpty { keywords["required"] = .array(required) }
    return JSONSchema(keywords)
  }

  /// Returns the schema of one case of an enum with payloads: an object with a member, `type`, that
  /// names the case.
  ///
  /// - Parameters:
  ///   - name: The name of the case.
  ///   - members: The other members.
  ///   - tag: The key of the member that names the case.
  public static func tagged(
    _ name: String, _ members: [Member] = [], by tag: String = "type"
  ) -> JSONSchema {
    object([.member(tag, .constant(name))] + members)
  }

  /// Returns the schema of an enum with payloads without one of its cases.
  public func without(_ name: String) -> JSONSchema {
    guard let cases = keywords["oneOf"]?.array else { return self }
    return .oneOf(
      cases.compactMap(\.object).map(JSONSchema.init).filter { $0.caseName != name })
  }

  /// The name of the case, if this is the schema of one case of an enum with payloads.
  var caseName: String? {
    guard case .object(let properties)? = keywords["properties"] else { return nil }
    return properties.lazy.compactMap { $0.value["const"]?.string }.first
  }
}

// MARK: - Composition

extension JSONSchema {
  /// Returns the schema of values that match exactly one of several schemas.
  public static func oneOf(_ schemas: [JSONSchema]) -> JSONSchema {
    JSONSchema(["oneOf": .array(schemas.map(\.value))])
  }

  /// Returns the schema of values that match at least one of several schemas.
  public static func anyOf(_ schemas: [JSONSchema]) -> JSONSchema {
    JSONSchema(["anyOf": .array(schemas.map(\.value))])
  }

  /// The schema that allows the same values and null.
  public var orNull: JSONSchema {
    // The schema of any value allows null already. The target of a reference may allow null too, so
    // `anyOf` is used and not `oneOf`.
    if keywords.isEmpty || allowsNull { return self }
    if let type = keywords["type"], type.string != nil, keywords["enum"] == nil,
      keywords["const"] == nil
    {
      var either = self
      either.keywords["type"] = .array([type, "null"])
      return either
    }
    return .anyOf([self, .null])
  }

  private var allowsNull: Bool {
    keywords["type"] == "null" || (keywords["type"]?.array ?? []).contains("null")
      || (keywords["anyOf"]?.array ?? []).contains(JSONSchema.null.value)
  }

  /// Returns the same schema with a title, for readers and for code generators.
  public func titled(_ title: String) -> JSONSchema {
    // In draft-07, keywords beside a reference are ignored.
    guard keywords["$ref"] == nil else {
      return JSONSchema(["title": .string(title), "allOf": .array([value])])
    }
    var titled: JSONObject = ["title": .string(title)]
    for (key, value) in keywords where key != "title" { titled[key] = value }
    return JSONSchema(titled)
  }

  /// Returns the same schema with a description for readers.
  public func described(_ text: String) -> JSONSchema {
    guard keywords["$ref"] == nil else {
      return JSONSchema(["description": .string(text), "allOf": .array([value])])
    }
    var described = self
    described.keywords["description"] = .string(text)
    return described
  }
}

// MARK: - References

extension JSONSchema {
  /// Returns a reference to another schema.
  static func reference(_ target: String) -> JSONSchema { JSONSchema(["$ref": .string(target)]) }

  /// The target, if this is a reference.
  var reference: String? { keywords["$ref"]?.string }
}

extension JSONValue {
  /// The keywords whose values are data: a member `$ref` in them is no reference.
  private static let dataKeywords: Set<String> = ["const", "default", "enum", "examples"]
  /// The keywords whose members have names of their own, which are no keywords; `x-stores` has the kinds of a
  /// server.
  private static let nameMaps: Set<String> = [
    "$defs", "definitions", "dependentSchemas", "patternProperties", "properties", "x-stores",
  ]

  /// Returns the same value with the targets of all references in its schemas replaced.
  ///
  /// - Parameter replacement: Returns the new target; nil to remove the reference.
  func replacingReferences(_ replacement: (String) -> String?) -> JSONValue {
    switch self {
    case .array(let elements):
      return .array(elements.map { $0.replacingReferences(replacement) })
    case .object(let members):
      let changed = members.compactMap { key, value -> (String, JSONValue)? in
        if key == "$ref", let target = value.string {
          return replacement(target).map { (key, .string($0)) }
        }
        if Self.dataKeywords.contains(key) { return (key, value) }
        guard Self.nameMaps.contains(key), let named = value.object else {
          return (key, value.replacingReferences(replacement))
        }
        let replaced = named.map { ($0.key, $0.value.replacingReferences(replacement)) }
        return (key, .object(JSONObject(replaced)))
      }
      return .object(JSONObject(changed))
    default: return self
    }
  }
}
