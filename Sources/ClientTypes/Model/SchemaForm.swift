// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A schema by its form; annotations and bounds are left out.
enum SchemaForm {
  /// A type without parts that could need a name.
  case simple(TypeExpression)
  /// A reference to a schema of the document.
  case reference(String)
  case nullable(JSONValue)
  case array(of: JSONValue)
  case map(of: JSONValue)
  /// An object with members; `isClosed` if it has no other members.
  case object(JSONObject, isClosed: Bool)
  case values([TypeDeclaration.Value])
  case taggedUnion(tag: String, cases: [(value: String, schema: JSONObject)])
  case union([JSONValue])

  /// True if a type of this form is declared with a name.
  var needsName: Bool {
    switch self {
    case .object, .values, .taggedUnion, .union: true
    case .simple, .reference, .nullable, .array, .map: false
    }
  }
}

extension OpenRPCDocument {
  /// Returns the form of a schema.
  ///
  /// - Throws: `ClientTypesError` if a reference has no target.
  func form(of schema: JSONValue, depth: Int = 0) throws(ClientTypesError) -> SchemaForm {
    guard depth < 64 else {
      throw ClientTypesError("a schema of the document contains itself without a type between")
    }
    // A Boolean schema allows everything or nothing.
    guard case .object(let keywords) = schema else { return .simple(.any) }
    if let parts = keywords["allOf"]?.array, let first = parts.first {
      return parts.count == 1
        ? try form(of: first, depth: depth)
        : try form(of: .object(try merged(keywords, parts, depth)), depth: depth)
    }
    if let target = keywords["$ref"]?.string { return .reference(target) }
    // Further names may be added at any time.
    if keywords["x-open"] == true { return .simple(.string(format: nil)) }
    if let value = keywords["const"] { return .simple(Self.literal(value)) }
    if let values = keywords["enum"]?.array { return Self.enumeration(values, keywords) }
    for key in ["oneOf", "anyOf"] {
      if let alternatives = keywords[key]?.array, !alternatives.isEmpty {
        return try alternative(alternatives, key, keywords, depth)
      }
    }
    if let types = keywords["type"]?.array { return Self.anyType(of: types, keywords) }
    return Self.typed(keywords)
  }

  private static func typed(_ keywords: JSONObject) -> SchemaForm {
    let name =
      keywords["type"]?.string ?? (keywords["properties"] != nil ? "object" : nil)
      ?? (keywords["items"] != nil ? "array" : nil)
    switch name {
    case "null": return .simple(.null)
    case "boolean": return .simple(.boolean)
    case "integer": return .simple(.integer)
    case "number": return .simple(.number)
    case "string":
      let format = keywords["format"]?.string ?? keywords["contentEncoding"]?.string
      return .simple(.string(format: format))
    case "array": return .array(of: keywords["items"] ?? [:])
    case "object":
      if let properties = keywords["properties"]?.object, !properties.isEmpty {
        return .object(keywords, isClosed: keywords["additionalProperties"] == false)
      }
      if let values = keywords["additionalProperties"], values != false { return .map(of: values) }
      let isClosed =
        keywords["maxProperties"] == 0 || keywords["additionalProperties"] == false
      return .object(keywords, isClosed: isClosed)
    default: return .simple(.any)
    }
  }

  private static func literal(_ value: JSONValue) -> TypeExpression {
    switch value {
    case .null: .null
    case .bool, .string: .literal(value)
    case .number(let number): number.int == nil ? .number : .literal(value)
    case .array, .object: .any
    }
  }

  private static func enumeration(_ values: [JSONValue], _ keywords: JSONObject) -> SchemaForm {
    let others = values.filter { !$0.isNull }
    if others.count < values.count {
      var rest = keywords
      rest["enum"] = .array(others)
      return others.isEmpty ? .simple(.null) : .nullable(.object(rest))
    }
    if values.count == 1 { return .simple(literal(values[0])) }
    let texts = keywords["x-enum-descriptions"]
    return .values(
      values.map { value in
        let name = value.string ?? "\(value)"
        return TypeDeclaration.Value(value: value, description: texts?[name]?.string)
      })
  }

  private static func anyType(of types: [JSONValue], _ keywords: JSONObject) -> SchemaForm {
    let others = types.filter { $0 != "null" }
    func schema(_ type: JSONValue) -> JSONValue {
      var one = keywords
      one["type"] = type
      return .object(one)
    }
    if others.count < types.count {
      return others.isEmpty
        ? .simple(.null) : .nullable(schema(others.count == 1 ? others[0] : .array(others)))
    }
    if others.count == 1 { return form(typed: schema(others[0])) }
    return .union(others.map(schema))
  }

  private static func form(typed schema: JSONValue) -> SchemaForm {
    schema.object.map(typed) ?? .simple(.any)
  }
}

// MARK: - Alternatives

extension OpenRPCDocument {
  private func alternative(
    _ alternatives: [JSONValue], _ key: String, _ keywords: JSONObject, _ depth: Int
  ) throws(ClientTypesError) -> SchemaForm {
    let others = alternatives.filter { $0["type"] != "null" && $0["const"]?.isNull != true }
    if others.count < alternatives.count {
      var rest = keywords
      rest[key] = .array(others)
      if others.count == 1, key == "anyOf" { return .nullable(others[0]) }
      return others.isEmpty ? .simple(.null) : .nullable(.object(rest))
    }
    let values = others.compactMap { other in
      other["const"].map {
        TypeDeclaration.Value(value: $0, description: other["description"]?.string)
      }
    }
    if values.count == others.count, values.count > 1 { return .values(values) }
    if others.count == 1 {
      let form = try form(of: others[0], depth: depth + 1)
      // `anyOf` with one element only adds annotations.
      guard key == "oneOf", let object = try object(of: others[0], form, depth) else { return form }
      return Self.tagged([object]) ?? form
    }
    var objects: [JSONObject] = []
    for other in others {
      let form = try form(of: other, depth: depth + 1)
      guard let object = try object(of: other, form, depth) else { return .union(others) }
      objects.append(object)
    }
    return Self.tagged(objects) ?? .union(others)
  }

  /// Returns the object of an alternative that has a form, with the annotations of the alternative;
  /// nil if it is not an object.
  private func object(
    of alternative: JSONValue, _ form: SchemaForm, _ depth: Int
  ) throws(ClientTypesError) -> JSONObject? {
    var form = form
    if case .reference = form {
      form = try self.form(of: try resolved(alternative), depth: depth + 1)
    }
    guard case .object(var object, _) = form else { return nil }
    for key in ["title", "description"] {
      if let text = alternative[key] { object[key] = text }
    }
    return object
  }

  /// Returns the form of objects that a member with a constant string tells apart; nil if there is
  /// no such member.
  private static func tagged(_ objects: [JSONObject]) -> SchemaForm? {
    for tag in objects.first?["properties"]?.object?.keys ?? [] {
      let values = objects.compactMap { object in
        object["required"]?.array?.contains(.string(tag)) == true
          ? object["properties"]?[tag]?["const"]?.string : nil
      }
      if Set(values).count == objects.count {
        return .taggedUnion(
          tag: tag, cases: zip(values, objects).map { (value: $0, schema: $1) })
      }
    }
    return nil
  }

  /// Follows references and annotations to a schema.
  ///
  /// - Throws: `ClientTypesError` if a reference has no target, or leads to itself.
  func resolved(_ schema: JSONValue) throws(ClientTypesError) -> JSONValue {
    var schema = schema
    var followed: Set<String> = []
    while true {
      if let parts = schema["allOf"]?.array, parts.count == 1 {
        schema = parts[0]
      } else if let target = schema["$ref"]?.string {
        guard followed.insert(target).inserted else {
          throw ClientTypesError("\"\(target)\" refers to itself without a type between")
        }
        schema = try self.schema(at: target)
      } else {
        return schema
      }
    }
  }

  /// Returns the schema of objects that match all of several schemas.
  private func merged(
    _ keywords: JSONObject, _ parts: [JSONValue], _ depth: Int
  ) throws(ClientTypesError) -> JSONObject {
    guard depth < 64 else {
      throw ClientTypesError("a schema of the document contains itself without a type between")
    }
    var merged = keywords
    merged["allOf"] = nil
    var properties = keywords["properties"]?.object ?? [:]
    var required = keywords["required"]?.array ?? []
    for part in parts {
      var part = try resolved(part)
      if let inner = part["allOf"]?.array, let object = part.object {
        part = .object(try self.merged(object, inner, depth + 1))
      }
      for (key, value) in part["properties"]?.object ?? [:] { properties[key] = value }
      required += part["required"]?.array ?? []
      for (key, value) in part.object ?? [:] where merged[key] == nil { merged[key] = value }
    }
    if !properties.isEmpty { merged["properties"] = .object(properties) }
    if !required.isEmpty { merged["required"] = .array(required) }
    return merged
  }
}
