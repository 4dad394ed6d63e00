// SPDX-License-Identifier: Apache-2.0

// MARK: - Names

extension JSONSchemas {
  /// Returns the name of a type's definition: `Stopwatch.Input` becomes StopwatchInput, without its
  /// module and generic arguments. A second type with the same name gets a number.
  func name(of type: Any.Type) -> String {
    var parts: [String] = [""]
    var depth = 0
    for character in String(reflecting: type) {
      switch character {
      case "<", "(": depth += 1
      case ">", ")": depth -= 1
      case _ where depth > 0: break
      case ".": parts.append("")
      default: parts[parts.count - 1].append(character)
      }
    }
    let name = parts.dropFirst().map(\.capitalisedFirst).joined()
    var unique = name
    var number = 1
    while let other = names[unique], other != ObjectIdentifier(type) {
      number += 1
      unique = "\(name)\(number)"
    }
    names[unique] = ObjectIdentifier(type)
    return unique
  }

  /// Adds a schema that another program has written. Its `$defs` become definitions of this
  /// collection.
  ///
  /// - Parameters:
  ///   - schema: The schema; references lead into its `$defs`. Others are removed: they allow every value, and
  ///     would lead to other schemas of this collection.
  ///   - prefix: The text before the names of its definitions.
  /// - Returns: The schema, with references to the definitions.
  public func adopt(_ schema: JSONSchema, namedAfter prefix: String) -> JSONSchema {
    func renamed(_ value: JSONValue) -> JSONValue {
      value.replacingReferences { target in
        target.hasPrefix("#/$defs/") ? Self.adoptedPrefix + prefix + target.dropFirst(8) : nil
      }
    }
    for (name, definition) in schema.keywords["$defs"]?.object ?? [:] {
      if case .object(let keywords) = renamed(definition) {
        adopted[prefix + name] = JSONSchema(keywords)
      }
    }
    var own = schema
    own.keywords["$defs"] = nil
    guard case .object(let keywords) = renamed(own.value) else { return own }
    return JSONSchema(keywords)
  }

  private static let adoptedPrefix = "adopted:"

  /// Replaces all internal references by names.
  ///
  /// - Parameters:
  ///   - document: A document that contains schemas of this collection.
  ///   - prefix: The text before a name in a reference, for example `#/definitions/`.
  /// - Returns: The document with references by name, and the definitions by name.
  public func finished(
    _ document: JSONValue, prefix: String
  ) -> (document: JSONValue, definitions: JSONObject) {
    let replaced = equalDefinitions()
    func name(_ place: Int) -> String {
      let definition = definitions[replaced[place] ?? place]
      let isSecond =
        definition.key.direction == .read
        && places[Key(type: definition.key.type, direction: .written)] != nil
      return isSecond ? definition.name + "Given" : definition.name
    }
    func named(_ value: JSONValue) -> JSONValue {
      value.replacingReferences { target in
        if target.hasPrefix(Self.adoptedPrefix) {
          return prefix + target.dropFirst(Self.adoptedPrefix.count)
        }
        return Int(target).map { prefix + name($0) } ?? target
      }
    }
    let members = places.values.filter { replaced[$0] == nil }.map { place in
      let name = name(place)
      let schema = definitions[place].schema ?? .anything
      return (name, named(schema.titled(name).withTitledCases.value))
    }
    let others = adopted.map { ($0.key, named($0.value.titled($0.key).value)) }
    let sorted = (members + others).sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
    return (named(document), JSONObject(sorted))
  }

  /// Returns the definitions for reading that equal the definition for writing, each with the index
  /// of the latter.
  private func equalDefinitions() -> [Int: Int] {
    var equalDefinitions: [Int: Int] = [:]
    for (key, place) in places where key.direction == .read {
      equalDefinitions[place] = places[Key(type: key.type, direction: .written)]
    }
    // All pairs are assumed to be equal until a difference is found, because definitions may refer
    // to one another.
    func schema(_ place: Int) -> JSONValue? {
      definitions[place].schema?.value.replacingReferences { target in
        Int(target).flatMap { equalDefinitions[$0] }.map { "\($0)" } ?? target
      }
    }
    while let different = equalDefinitions.first(where: { schema($0.key) != schema($0.value) }) {
      equalDefinitions[different.key] = nil
    }
    return equalDefinitions
  }
}

extension JSONSchema {
  /// The same schema with titles for the cases of an enum with payloads: the title of the enum
  /// followed by the name of the case.
  fileprivate var withTitledCases: JSONSchema {
    guard let title = keywords["title"]?.string, let cases = keywords["oneOf"]?.array else {
      return self
    }
    var titled = self
    titled.keywords["oneOf"] = .array(
      cases.map { one in
        guard case .object(let keywords) = one, keywords["title"] == nil else { return one }
        let schema = JSONSchema(keywords)
        return schema.caseName.map { schema.titled(title + $0.capitalisedFirst).value } ?? one
      })
    return titled
  }
}

extension String {
  /// The string with an upper-case first letter.
  fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
