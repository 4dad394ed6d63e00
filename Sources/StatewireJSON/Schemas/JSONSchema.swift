// SPDX-License-Identifier: Apache-2.0

/// What a JSON value may be, as a JSON Schema.
///
/// Keeps to what draft-07 and 2020-12 have in common. Objects may always have further members, since
/// readers on both sides of the wire ignore what they do not know.
///
/// - Source: JSON Schema Validation, draft-07 and 2020-12 §6.
public struct JSONSchema: Equatable, Sendable {
  /// The keywords; without any, every value is allowed.
  public var keywords: JSONObject

  public init(_ keywords: JSONObject) { self.keywords = keywords }

  /// The schema as JSON.
  public var value: JSONValue { .object(keywords) }
}

// MARK: - Scalars

extension JSONSchema {
  /// Any value at all.
  public static var anything: JSONSchema { JSONSchema([:]) }

  public static var null: JSONSchema { JSONSchema(["type": "null"]) }

  public static var boolean: JSONSchema { JSONSchema(["type": "boolean"]) }

  /// A whole number.
  ///
  /// - Parameters:
  ///   - minimum: The least that it may be; nil: any.
  ///   - maximum: The most that it may be; nil: any.
  public static func integer(minimum: Int? = nil, maximum: Int? = nil) -> JSONSchema {
    number("integer", minimum, maximum)
  }

  /// A number.
  ///
  /// - Parameters:
  ///   - minimum: The least that it may be; nil: any.
  ///   - maximum: The most that it may be; nil: any.
  public static func number(minimum: Int? = nil, maximum: Int? = nil) -> JSONSchema {
    number("number", minimum, maximum)
  }

  private static func number(_ type: String, _ minimum: Int?, _ maximum: Int?) -> JSONSchema {
    var keywords: JSONObject = ["type": .string(type)]
    if let minimum { keywords["minimum"] = .number(JSONNumber(minimum)) }
    if let maximum { keywords["maximum"] = .number(JSONNumber(maximum)) }
    return JSONSchema(keywords)
  }

  /// A string.
  ///
  /// - Parameters:
  ///   - bytes: How many bytes of UTF-8 it may have. A schema counts characters, of which there are
  ///     no more than that.
  ///   - minimumLength: How many characters it has at least.
  ///   - pattern: A regular expression that it matches somewhere.
  ///   - example: One that is taken, where "" is not.
  public static func string(
    maximumBytes bytes: Int? = nil, minimumLength: Int? = nil, pattern: String? = nil,
    example: String? = nil
  ) -> JSONSchema {
    var keywords: JSONObject = ["type": "string"]
    if let minimumLength { keywords["minLength"] = .number(JSONNumber(minimumLength)) }
    if let bytes { keywords["maxLength"] = .number(JSONNumber(bytes)) }
    if let pattern { keywords["pattern"] = .string(pattern) }
    if let example { keywords["examples"] = .array([.string(example)]) }
    return JSONSchema(keywords)
  }

  /// One of several values.
  public static func oneOf(values: [JSONValue]) -> JSONSchema {
    var keywords: JSONObject = [:]
    if values.allSatisfy({ $0.string != nil }) { keywords["type"] = "string" }
    keywords["enum"] = .array(values)
    return JSONSchema(keywords)
  }

  /// One of several texts.
  public static func oneOf(names: [String]) -> JSONSchema {
    oneOf(values: names.map { .string($0) })
  }

  /// The same list, to which names may be added at any time: whoever reads one takes any.
  public var open: JSONSchema {
    var open = self
    open.keywords["x-open"] = true
    return open
  }

  /// This text and no other.
  public static func constant(_ text: String) -> JSONSchema {
    JSONSchema(["type": "string", "const": .string(text)])
  }
}

// MARK: - Arrays and objects

extension JSONSchema {
  /// Elements of one kind.
  public static func array(of element: JSONSchema, isEmptyAllowed: Bool = true) -> JSONSchema {
    var keywords: JSONObject = ["type": "array", "items": element.value]
    if !isEmptyAllowed { keywords["minItems"] = 1 }
    return JSONSchema(keywords)
  }

  /// An object with any keys.
  public static func map(of value: JSONSchema) -> JSONSchema {
    JSONSchema(["type": "object", "additionalProperties": value.value])
  }

  /// A member of an object.
  public struct Member: Equatable, Sendable {
    public var name: String
    public var schema: JSONSchema
    public var isRequired: Bool

    /// One that is always there.
    public static func member(_ name: String, _ schema: JSONSchema) -> Member {
      Member(name: name, schema: schema, isRequired: true)
    }

    /// One that may be left out, but is not null.
    public static func omissible(_ name: String, _ schema: JSONSchema) -> Member {
      Member(name: name, schema: schema, isRequired: false)
    }

    /// One that may be absent or null.
    public static func optional(_ name: String, _ schema: JSONSchema) -> Member {
      Member(name: name, schema: schema.orNull, isRequired: false)
    }
  }

  /// The members that an object has, or some case of it.
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

  /// An object with these members, and any others.
  public static func object(_ members: [Member]) -> JSONSchema {
    var keywords: JSONObject = ["type": "object"]
    if !members.isEmpty {
      keywords["properties"] = .object(JSONObject(members.map { ($0.name, $0.schema.value) }))
    }
    let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
    if !required.isEmpty { keywords["required"] = .array(required) }
    return JSONSchema(keywords)
  }

  /// One case of an enum with payloads: an object with a member, `type`, that names the case.
  ///
  /// - Parameters:
  ///   - name: The case.
  ///   - members: Its other members.
  ///   - tag: What the member is called.
  public static func tagged(
    _ name: String, _ members: [Member] = [], by tag: String = "type"
  ) -> JSONSchema {
    object([.member(tag, .constant(name))] + members)
  }

  /// The same without one case of an enum with payloads.
  public func without(_ name: String) -> JSONSchema {
    guard let cases = keywords["oneOf"]?.array else { return self }
    return .oneOf(
      cases.compactMap(\.object).map(JSONSchema.init).filter { $0.caseName != name })
  }

  /// The case that it is of an enum with payloads, if it is one.
  var caseName: String? {
    guard case .object(let properties)? = keywords["properties"] else { return nil }
    return properties.lazy.compactMap { $0.value["const"]?.string }.first
  }
}

// MARK: - Composition

extension JSONSchema {
  /// Exactly one of several.
  public static func oneOf(_ schemas: [JSONSchema]) -> JSONSchema {
    JSONSchema(["oneOf": .array(schemas.map(\.value))])
  }

  /// At least one of several.
  public static func anyOf(_ schemas: [JSONSchema]) -> JSONSchema {
    JSONSchema(["anyOf": .array(schemas.map(\.value))])
  }

  /// The same, or null.
  public var orNull: JSONSchema {
    // Anything is null already, and so may be what a reference stands for: at least one, therefore.
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

  /// The same under a name, for people and for whoever makes code of it.
  public func titled(_ title: String) -> JSONSchema {
    // Beside a reference nothing counts in draft-07.
    guard keywords["$ref"] == nil else {
      return JSONSchema(["title": .string(title), "allOf": .array([value])])
    }
    var titled: JSONObject = ["title": .string(title)]
    for (key, value) in keywords where key != "title" { titled[key] = value }
    return JSONSchema(titled)
  }

  /// The same with a sentence for people.
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
  /// What stands elsewhere.
  static func reference(_ target: String) -> JSONSchema { JSONSchema(["$ref": .string(target)]) }

  /// What it refers to, if it is a reference.
  var reference: String? { keywords["$ref"]?.string }
}

extension JSONValue {
  /// The same with other targets in the schemas in it.
  func replacingReferences(_ replacement: (String) -> String) -> JSONValue {
    switch self {
    case .array(let elements):
      return .array(elements.map { $0.replacingReferences(replacement) })
    case .object(let members):
      let changed = members.map { key, value -> (String, JSONValue) in
        if key == "$ref", let target = value.string { return (key, .string(replacement(target))) }
        return (key, value.replacingReferences(replacement))
      }
      return .object(JSONObject(changed))
    default: return self
    }
  }
}
