// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// Turns schemas into declarations: breadth-first, so that a type is named after its shortest path.
struct TypeCollector {
  /// The place of a schema, from which the name of its type is derived.
  struct Place {
    /// The name of the type that contains it.
    let owner: String
    /// The key of the member, or the singular of it.
    let word: String

    var name: String { owner + word.capitalisedName }
    /// The place of the elements of an array or a map.
    var element: Place { Place(owner: owner, word: word.singular) }
  }

  private let document: OpenRPCDocument
  private let usesSchemaNames: Bool
  private var names: UniqueNames
  /// Nil until the declaration is finished.
  private var declarations: [TypeDeclaration?] = []
  /// The declarations of the schemas of the document.
  private var indices: [String: Int] = [:]
  private var queue: ArraySlice<(index: Int, name: String, schema: JSONValue)> = []

  init(document: OpenRPCDocument, usesSchemaNames: Bool = false) {
    self.document = document
    self.usesSchemaNames = usesSchemaNames
    names = UniqueNames(taken: Self.reserved)
  }

  /// Names that the generated text uses for other purposes.
  private static let reserved: Set<String> = [
    "Any", "Dict", "Json", "JSONValue", "Kind", "List", "Literal", "Map", "Mapping", "Optional",
    "String", "TypeAlias", "TypedDict", "Union", "DateTimeString", "Base64String",
  ]

  /// The declarations, in the order in which they were found.
  func finished() -> [TypeDeclaration] { declarations.compactMap { $0 } }

  // MARK: - Entry points

  /// Begins a kind, which shares no types with others.
  mutating func startKind() { indices = [:] }

  /// Declares the type of a schema under a name, with all types that it uses.
  mutating func root(
    _ schema: JSONValue, named name: String
  ) throws(ClientTypesError) -> TypeExpression {
    let index = reserve(name)
    if case .reference(let target) = try document.form(of: schema) {
      if let known = indices[target] {
        finish(index, name, schema, .alias(.named(known)))
        return .named(index)
      }
      indices[target] = index
    }
    queue.append((index, name, schema))
    try drain()
    return .named(index)
  }

  /// Declares all schemas of the document under their names.
  mutating func declareSchemas() throws(ClientTypesError) {
    for (name, schema) in document.schemas {
      let unique = names.unique(name.typeName(else: "Type"))
      declarations.append(nil)
      indices[OpenRPCDocument.prefix + name] = declarations.count - 1
      queue.append((declarations.count - 1, unique, schema))
    }
    try drain()
  }

  /// Returns the type of a schema that needs no name.
  mutating func inline(_ schema: JSONValue) throws(ClientTypesError) -> TypeExpression {
    let type = try expression(schema, at: Place(owner: "Value", word: ""))
    try drain()
    return type
  }

  private mutating func drain() throws(ClientTypesError) {
    while let (index, name, schema) = queue.popFirst() {
      finish(index, name, schema, try shape(of: schema, named: name))
    }
  }

  private mutating func reserve(_ name: String) -> Int {
    declarations.append(nil)
    _ = names.unique(name)
    return declarations.count - 1
  }

  private mutating func finish(
    _ index: Int, _ name: String, _ schema: JSONValue, _ shape: TypeDeclaration.Shape
  ) {
    declarations[index] = TypeDeclaration(
      name: name, description: description(of: schema), shape: shape)
  }

  private func description(of schema: JSONValue) -> String? {
    if let text = schema["description"]?.string { return text }
    if let parts = schema["allOf"]?.array, parts.count == 1 { return description(of: parts[0]) }
    return (try? document.resolved(schema))?["description"]?.string
  }

  // MARK: - Types

  private mutating func expression(
    _ schema: JSONValue, at place: Place
  ) throws(ClientTypesError) -> TypeExpression {
    let form = try document.form(of: schema)
    switch form {
    case .simple(let type): return type
    case .nullable(let inner): return try expression(inner, at: place).orNull
    case .array(let element): return .array(try expression(element, at: place.element))
    case .map(let value): return .map(try expression(value, at: place.element))
    case .reference(let target):
      if let index = indices[target] { return .named(index) }
      let schema = try document.schema(at: target)
      if try isInline(target) { return try expression(schema, at: place) }
      let index = declare(schema, at: place)
      indices[target] = index
      return .named(index)
    case .union(let alternatives):
      var types: [TypeExpression] = []
      for alternative in alternatives {
        guard case .simple(let type) = try document.form(of: alternative) else { continue }
        types.append(type)
      }
      // A union of strings and numbers needs no name.
      if types.count == alternatives.count { return .either(types) }
      return .named(declare(schema, at: place))
    case .object where isMap(form): return .map(.any)
    case .object, .values, .taggedUnion: return .named(declare(schema, at: place))
    }
  }

  private mutating func declare(_ schema: JSONValue, at place: Place) -> Int {
    let name = names.unique(place.name)
    declarations.append(nil)
    queue.append((declarations.count - 1, name, schema))
    return declarations.count - 1
  }

  /// True if a schema of the document is written where it is used: a string, an array of another
  /// type. A schema that contains itself is not.
  private func isInline(_ target: String) throws(ClientTypesError) -> Bool {
    var visited: Set<String> = []
    var waiting = [target]
    while let next = waiting.popLast() {
      let schema = try document.schema(at: next)
      let form = try document.form(of: schema)
      if form.needsName, !isMap(form) {
        if next == target { return false }
        continue
      }
      for reference in schema.references {
        if reference == target { return false }
        if visited.insert(reference).inserted { waiting.append(reference) }
      }
    }
    return true
  }

  /// True for an object without known members.
  private func isMap(_ form: SchemaForm) -> Bool {
    if case .object(let keywords, isClosed: false) = form {
      keywords["properties"] == nil
    } else {
      false
    }
  }

  // MARK: - Declarations

  private mutating func shape(
    of schema: JSONValue, named name: String
  ) throws(ClientTypesError) -> TypeDeclaration.Shape {
    let place = Place(owner: name, word: "")
    switch try document.form(of: schema) {
    case .object(let keywords, let isClosed):
      return .object(
        try members(of: keywords, at: name), isClosed: isClosed && keywords["properties"] == nil)
    case .values(let values): return .values(values)
    case .taggedUnion(let tag, let cases):
      var declared: [TypeDeclaration.Case] = []
      for (value, schema) in cases {
        let title = usesSchemaNames ? schema["title"]?.string : nil
        let caseName = names.unique(title?.typeName(else: "Type") ?? name + value.capitalisedName)
        declared.append(
          TypeDeclaration.Case(
            value: value, name: caseName,
            members: try members(of: schema, at: caseName).filter { $0.key != tag },
            description: schema["description"]?.string))
      }
      return .taggedUnion(tag: tag, declared)
    case .union(let alternatives): return .union(try self.alternatives(alternatives, in: name))
    case .reference(let target) where usesSchemaNames || indices[target] == nil:
      return .alias(try expression(schema, at: place))
    case .reference:
      // The schema of a root, which has the name of the root.
      return try shape(of: try document.resolved(schema), named: name)
    case .nullable(let inner):
      return .alias(try expression(inner, at: Place(owner: name, word: "Value")).orNull)
    case .simple, .array, .map: return .alias(try expression(schema, at: place))
    }
  }

  private mutating func members(
    of keywords: JSONObject, at owner: String
  ) throws(ClientTypesError) -> [TypeDeclaration.Member] {
    let required = keywords["required"]?.array ?? []
    var members: [TypeDeclaration.Member] = []
    for (key, schema) in keywords["properties"]?.object ?? [:] {
      // A payload without a label is the value of its case.
      let word = key.payloadPosition.map { $0 == 0 ? "value" : "value\($0)" } ?? key
      let type = try expression(schema, at: Place(owner: owner, word: word))
      var description = schema["description"]?.string
      // The description of a type without a name has no other place.
      if description == nil, !type.isNamed { description = self.description(of: schema) }
      members.append(
        TypeDeclaration.Member(
          key: key, type: type, isRequired: required.contains(.string(key)),
          description: description))
    }
    return members
  }

  private mutating func alternatives(
    _ alternatives: [JSONValue], in name: String
  ) throws(ClientTypesError) -> [TypeDeclaration.Alternative] {
    var labels = UniqueNames()
    var found: [TypeDeclaration.Alternative] = []
    for (number, schema) in alternatives.enumerated() {
      let label = labels.unique(try label(of: schema) ?? "Option\(number + 1)")
      let title = usesSchemaNames ? schema["title"]?.string?.typeName(else: "Type") : nil
      let place = title.map { Place(owner: $0, word: "") } ?? Place(owner: name, word: label)
      // An object without members, which `expression` would not declare.
      if title != nil, case .object = try document.form(of: schema) {
        found.append(
          TypeDeclaration.Alternative(label: label, type: .named(declare(schema, at: place))))
      } else {
        found.append(
          TypeDeclaration.Alternative(label: label, type: try expression(schema, at: place)))
      }
    }
    return found
  }

  /// Returns a word for one alternative of a union: the first required member of an object,
  /// otherwise its first member, or the JSON type.
  private func label(of schema: JSONValue) throws(ClientTypesError) -> String? {
    switch try document.form(of: try document.resolved(schema)) {
    case .object(let keywords, _):
      let keys = keywords["properties"]?.object?.keys ?? []
      let required = keywords["required"]?.array ?? []
      let name = (keys.first { required.contains(.string($0)) } ?? keys.first)?.capitalisedName
      return keys.isEmpty ? "Empty" : name.flatMap { $0.isEmpty ? nil : $0 }
    case .array: return "List"
    case .map: return "Map"
    case .values: return "Value"
    case .simple(.string), .simple(.literal(.string)): return "Text"
    case .simple(.integer), .simple(.number), .simple(.literal(.number)): return "Number"
    case .simple(.boolean), .simple(.literal(.bool)): return "Flag"
    default: return nil
    }
  }
}

extension TypeExpression {
  /// True if the type, or the elements of it, have a name.
  fileprivate var isNamed: Bool {
    switch self {
    case .named: true
    case .array(let inner), .map(let inner), .optional(let inner): inner.isNamed
    default: false
    }
  }
}

extension JSONValue {
  /// The targets of all references in the schema.
  fileprivate var references: [String] {
    switch self {
    case .array(let elements): elements.flatMap(\.references)
    case .object(let members):
      members.flatMap { key, value in
        if key == "$ref", let target = value.string { [target] } else { value.references }
      }
    default: []
    }
  }
}
