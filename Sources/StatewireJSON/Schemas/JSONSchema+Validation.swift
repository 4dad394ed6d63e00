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
    try check(value, in: root ?? self, maximumWork: 1_000_000)
  }

  /// Checks that a value fits the schema, with a bound of the work; see `Root.count`.
  func check(_ value: JSONValue, in root: JSONSchema, maximumWork: Int) throws(JSONError) {
    try check(value, Root(root, maximumWork), depth: 0)
  }

  /// The schema that references lead into, with the work that a check may still do.
  private final class Root {
    private let schema: JSONSchema
    private var left: Int

    init(_ schema: JSONSchema, _ maximumWork: Int) { (self.schema, left) = (schema, maximumWork) }

    func definition(_ reference: String) -> JSONSchema? { schema.definition(reference) }

    /// Counts one value that is compared with one schema, or more work.
    ///
    /// - Throws: `JSONError` if it takes too long, for example because the forms of the schema are ambiguous.
    func count(_ work: Int = 1) throws(JSONError) {
      left -= work
      if left < 0 { throw JSONError(.value, "the value takes too long to compare with its schema") }
    }
  }

  private func check(
    _ value: JSONValue, _ root: Root, depth: Int
  ) throws(JSONError) {
    try root.count()
    // A reference that leads to itself allows every value.
    guard depth < Self.maximumDepth else { return }
    if let target = keywords["$ref"]?.string, let schema = root.definition(target) {
      try schema.check(value, root, depth: depth + 1)
    }
    try checkType(value)
    if let choices = keywords["enum"]?.array {
      try root.count(choices.count / 16)
      guard choices.contains(value) else {
        throw JSONError(.value, "the value is not one of the allowed values")
      }
    }
    if let constant = keywords["const"], constant != value {
      throw JSONError(.value, "the value is not the allowed value")
    }
    try checkSize(value, root)
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

  private func checkSize(_ value: JSONValue, _ root: Root) throws(JSONError) {
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
      try root.count(text.utf8.count / 64)
      try check("minLength", "maxLength", text.unicodeScalars.count, "the length of the string")
    case .array(let elements):
      try check("minItems", "maxItems", elements.count, "the number of elements")
    case .object(let members):
      try check("minProperties", "maxProperties", members.count, "the number of members")
    default: break
    }
  }

  private func checkCombinations(
    _ value: JSONValue, _ root: Root, _ depth: Int
  ) throws(JSONError) {
    for choice in keywords["allOf"]?.array ?? [] { try Self.check(value, choice, root, depth) }
    if let choices = keywords["anyOf"]?.array {
      try checkForms(value, choices, root, depth, isOne: false)
    }
    if let choices = keywords["oneOf"]?.array {
      try checkForms(value, choices, root, depth, isOne: true)
    }
    if let excluded = keywords["not"], Self.fault(value, excluded, root, depth) == nil {
      throw JSONError(.value, "the value is not allowed")
    }
  }

  /// Checks that a value has one of several forms. A value with a `type` is compared with the form of
  /// that type only, so that nested forms are not checked again and again.
  private func checkForms(
    _ value: JSONValue, _ choices: [JSONValue], _ root: Root, _ depth: Int, isOne: Bool
  ) throws(JSONError) {
    if let tag = value["type"], tag.string != nil {
      try root.count(choices.count)
      let tagged = choices.filter { Self.hasTag($0, tag, root) }
      if tagged.count == 1 { return try Self.check(value, tagged[0], root, depth) }
    }
    var count = 0
    for choice in choices where Self.fault(value, choice, root, depth) == nil {
      count += 1
      if !isOne { return }
    }
    if count == 0 {
      let types = choices.compactMap { Self.tag(of: $0, root) }
      guard types.count == choices.count, value["type"]?.string != nil else {
        throw JSONError(.value, "the value fits none of the allowed forms")
      }
      throw JSONError(
        .value, "the type is none of \(types.joined(separator: ", "))", path: [.key("type")])
    }
    if count > 1 { throw JSONError(.value, "the value fits more than one of the allowed forms") }
  }

  private static func hasTag(_ choice: JSONValue, _ tag: JSONValue, _ root: Root) -> Bool {
    let allowed = type(of: choice, root)
    return allowed?["const"] == tag || allowed?["enum"]?.array?.contains(tag) == true
  }

  /// The only `type` of the objects of a form; nil if there is not one.
  private static func tag(of choice: JSONValue, _ root: Root) -> String? {
    type(of: choice, root)?["const"]?.string
  }

  private static func type(of choice: JSONValue, _ root: Root) -> JSONValue? {
    let target = choice["$ref"]?.string.flatMap(root.definition)?.value ?? choice
    return target["properties"]?["type"]
  }

  private static func fault(
    _ value: JSONValue, _ schema: JSONValue, _ root: Root, _ depth: Int
  ) -> JSONError? {
    do throws(JSONError) {
      try check(value, schema, root, depth)
      return nil
    } catch {
      return error
    }
  }

  private static func check(
    _ value: JSONValue, _ schema: JSONValue, _ root: Root, _ depth: Int
  ) throws(JSONError) {
    switch schema {
    case .object(let keywords): try JSONSchema(keywords).check(value, root, depth: depth + 1)
    case .bool(false): throw JSONError(.value, "no value is allowed here")
    default: break
    }
  }

  private func check(
    _ members: JSONObject, _ root: Root, _ depth: Int
  ) throws(JSONError) {
    let required = keywords["required"]?.array ?? []
    try root.count(required.count / 16)
    for case .string(let name) in required where members[name] == nil {
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
    _ elements: [JSONValue], _ root: Root, _ depth: Int
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
