// SPDX-License-Identifier: Apache-2.0

extension JSONSchema {
  /// Checks that a value fits the schema.
  ///
  /// It knows the keywords for types, enumerations, numbers, lengths, members, elements and
  /// combinations; others, such as `pattern` and `format`, are ignored. References lead into `$defs`
  /// of `root`; others allow every value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - root: The schema that contains this one; nil for this one.
  /// - Throws: `JSONError` with the path to the first part that does not fit.
  /// - Source: JSON Schema Validation, 2020-12 §6, and JSON Schema Core §10.
  public func check(_ value: JSONValue, in root: JSONSchema? = nil) throws(JSONError) {
    try check(value, root ?? self, depth: 0)
  }

  private func check(
    _ value: JSONValue, _ root: JSONSchema, depth: Int
  ) throws(JSONError) {
    // A reference that leads to itself allows every value.
    guard depth < Self.maximumDepth else { return }
    if let target = keywords["$ref"]?.string, let schema = root.definition(target) {
      try schema.check(value, root, depth: depth + 1)
    }
    try checkType(value)
    if let choices = keywords["enum"]?.array, !choices.contains(value) {
      throw JSONError(.value, "the value is not one of the allowed values")
    }
    if let constant = keywords["const"], constant != value {
      throw JSONError(.value, "the value is not the allowed value")
    }
    try checkSize(value)
    try checkCombinations(value, root, depth)
    switch value {
    case .object(let members): try check(members, root, depth)
    case .array(let elements): try check(elements, root, depth)
    default: break
    }
  }

  private static let maximumDepth = 256

  private func definition(_ reference: String) -> JSONSchema? {
    guard reference.hasPrefix("#/"),
      let pointer = try? JSONPointer(parsing: String(reference.dropFirst())),
      let object = value[pointer]?.object
    else { return nil }
    return JSONSchema(object)
  }

  private func checkType(_ value: JSONValue) throws(JSONError) {
    let types: [String] =
      switch keywords["type"] {
      case .string(let type)?: [type]
      case .array(let types)?: types.compactMap(\.string)
      default: []
      }
    guard !types.isEmpty else { return }
    let fits = types.contains { type in
      switch (type, value) {
      case ("null", .null), ("boolean", .bool), ("number", .number), ("string", .string),
        ("array", .array), ("object", .object):
        true
      case ("integer", .number(let number)):
        number.integer(Int64.self) != nil || number.double.rounded() == number.double
      default: false
      }
    }
    if !fits {
      throw JSONError(.type, "the value is not of the type \(types.joined(separator: " or "))")
    }
  }

  private func checkSize(_ value: JSONValue) throws(JSONError) {
    func check(_ least: String, _ most: String, _ count: Int, _ what: String) throws(JSONError) {
      if let bound = keywords[least]?.int, count < bound {
        throw JSONError(.value, "\(what) must be at least \(bound)")
      }
      if let bound = keywords[most]?.int, count > bound {
        throw JSONError(.value, "\(what) must be at most \(bound)")
      }
    }
    switch value {
    case .number(let number):
      let double = number.double
      if let bound = keywords["minimum"]?.double, double < bound {
        throw JSONError(.value, "the number must be at least \(bound)")
      }
      if let bound = keywords["maximum"]?.double, double > bound {
        throw JSONError(.value, "the number must be at most \(bound)")
      }
      if let bound = keywords["exclusiveMinimum"]?.double, double <= bound {
        throw JSONError(.value, "the number must be greater than \(bound)")
      }
      if let bound = keywords["exclusiveMaximum"]?.double, double >= bound {
        throw JSONError(.value, "the number must be less than \(bound)")
      }
    case .string(let text):
      guard keywords["minLength"] != nil || keywords["maxLength"] != nil else { return }
      try check("minLength", "maxLength", text.unicodeScalars.count, "the length of the string")
    case .array(let elements):
      try check("minItems", "maxItems", elements.count, "the number of elements")
    case .object(let members):
      try check("minProperties", "maxProperties", members.count, "the number of members")
    default: break
    }
  }

  private func checkCombinations(
    _ value: JSONValue, _ root: JSONSchema, _ depth: Int
  ) throws(JSONError) {
    func fits(_ choice: JSONValue) -> Bool {
      do throws(JSONError) {
        try Self.check(value, choice, root, depth)
        return true
      } catch {
        return false
      }
    }
    for choice in keywords["allOf"]?.array ?? [] { try Self.check(value, choice, root, depth) }
    if let choices = keywords["anyOf"]?.array, !choices.contains(where: fits) {
      throw closest(value, choices, root, depth)
    }
    if let choices = keywords["oneOf"]?.array {
      let count = choices.count(where: fits)
      if count == 0 { throw closest(value, choices, root, depth) }
      if count > 1 { throw JSONError(.value, "the value fits more than one of the allowed forms") }
    }
    if let excluded = keywords["not"], fits(excluded) {
      throw JSONError(.value, "the value is not allowed")
    }
  }

  /// Returns the error of the form that has the same `type` member as the value; otherwise one that
  /// says that no form fits.
  private func closest(
    _ value: JSONValue, _ choices: [JSONValue], _ root: JSONSchema, _ depth: Int
  ) -> JSONError {
    for choice in choices {
      let target = choice["$ref"]?.string.flatMap(root.definition)?.value ?? choice
      guard let tag = value["type"], let allowed = target["properties"]?["type"],
        allowed["const"] == tag || allowed["enum"]?.array?.contains(tag) == true
      else { continue }
      do throws(JSONError) {
        try Self.check(value, choice, root, depth)
      } catch {
        return error
      }
    }
    return JSONError(.value, "the value fits none of the allowed forms")
  }

  private static func check(
    _ value: JSONValue, _ schema: JSONValue, _ root: JSONSchema, _ depth: Int
  ) throws(JSONError) {
    switch schema {
    case .object(let keywords): try JSONSchema(keywords).check(value, root, depth: depth + 1)
    case .bool(false): throw JSONError(.value, "no value is allowed here")
    default: break
    }
  }

  private func check(
    _ members: JSONObject, _ root: JSONSchema, _ depth: Int
  ) throws(JSONError) {
    for case .string(let name) in keywords["required"]?.array ?? [] where members[name] == nil {
      throw JSONError(.missing, "a member is missing", path: [.key(name)])
    }
    let properties = keywords["properties"]
    let others = keywords["additionalProperties"]
    guard properties != nil || others != nil else { return }
    for (name, member) in members {
      guard let schema = properties?[name] ?? others else { continue }
      do throws(JSONError) {
        try Self.check(member, schema, root, depth)
      } catch {
        throw error.under(.key(name))
      }
    }
  }

  private func check(
    _ elements: [JSONValue], _ root: JSONSchema, _ depth: Int
  ) throws(JSONError) {
    let first = keywords["prefixItems"]?.array ?? []
    let others = keywords["items"]
    guard !first.isEmpty || others != nil else { return }
    for (index, element) in elements.enumerated() {
      guard let schema = index < first.count ? first[index] : others else { continue }
      do throws(JSONError) {
        try Self.check(element, schema, root, depth)
      } catch {
        throw error.under(.index(index))
      }
    }
  }
}
