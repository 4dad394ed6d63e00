// SPDX-License-Identifier: Apache-2.0

/// A collection of the schemas of types; named schemas become definitions.
///
/// A type may have a different schema for reading and for writing: a member that may be absent when
/// read is always present, possibly null, when the program writes it. Such a type has two
/// definitions, and the one for reading is named `…Given`.
///
/// The schema of a type is determined by decoding it with a probe (`SchemaProbe`) or provided by
/// the type (`JSONDescribed`). If neither works, the schema allows every value.
public final class JSONSchemas {
  enum Direction { case read, written }

  private struct Key: Hashable {
    let type: ObjectIdentifier
    let direction: Direction
  }

  private struct Definition {
    let key: Key
    /// The name of the type.
    let name: String
    /// Nil while it is being determined, and also if another type has to be determined first.
    var schema: JSONSchema?
    /// A value of the type, set once one is known.
    var instance: JSONValue?
  }

  private(set) var direction = Direction.written
  /// True while the schema of a written type is determined; false for a type that is read.
  public var isWritten: Bool { direction == .written }
  /// The definitions so far. Until `finished`, references contain indices into this array.
  private var definitions: [Definition] = []
  private var places: [Key: Int] = [:]
  private var names: [String: ObjectIdentifier] = [:]

  /// Creates an empty collection.
  public init() {}

  /// Returns the schema of JSON from which a type is read.
  public func read(_ type: Any.Type) -> JSONSchema { schema(of: type, .read) }

  /// Returns the schema of JSON that a type is written as.
  public func written(_ type: Any.Type) -> JSONSchema { schema(of: type, .written) }

  private func schema(of type: Any.Type, _ direction: Direction) -> JSONSchema {
    let outer = self.direction
    self.direction = direction
    defer { self.direction = outer }
    return (try? schema(of: type)) ?? .anything
  }

  /// Returns the schema of a type, for reading or writing like the type whose schema is being
  /// determined.
  ///
  /// - Throws: An error if the type whose schema is being determined has to be known first.
  public func schema(of type: Any.Type) throws -> JSONSchema {
    if let scalar = Self.scalar(type) { return scalar }
    let described = type as? any JSONDescribed.Type
    if let described, !described.isDescribedByName { return try described.schema(in: self) }

    let key = Key(type: ObjectIdentifier(type), direction: direction)
    if let place = places[key] { return .reference("\(place)") }
    let place = definitions.count
    places[key] = place
    definitions.append(Definition(key: key, name: name(of: type)))
    do {
      if let described {
        finish(place, try described.schema(in: self))
      } else if let decodable = type as? any Decodable.Type {
        finish(place, try probed(decodable, at: place))
      } else {
        finish(place, .anything)
      }
    } catch is Unready {
      definitions[place].instance = nil
      places[key] = nil
      throw Unready()
    } catch {
      definitions[place].schema = .anything
    }
    return .reference("\(place)")
  }

  private func finish(_ place: Int, _ schema: JSONSchema) {
    definitions[place].schema = schema
    if definitions[place].instance == nil {
      definitions[place].instance = instance(of: schema)
    }
  }

  /// The error for a type that contains itself and of which no value is known yet.
  private struct Unready: Error {}
}

// MARK: - Values

extension JSONSchemas {
  /// Returns a small value of a type.
  func value<T: Decodable>(of type: T.Type) throws -> T {
    let schema = try schema(of: type)
    guard let instance = instance(of: schema) else {
      if let place = schema.reference.flatMap({ Int($0) }), definitions[place].schema != nil {
        throw SchemaProbe.Unsupported()
      }
      throw Unready()
    }
    return try JSON.decode(type, from: instance)
  }

  private func instance(of schema: JSONSchema) -> JSONValue? {
    schema.instance { Int($0).flatMap { definitions[$0].instance } }
  }
}

// MARK: - Members

extension JSONSchemas {
  /// Returns the members of objects that fit a schema. For several cases, these are the members of
  /// all cases; a member is required if every case requires it.
  public func members(of schema: JSONSchema) -> [JSONSchema.Member] {
    if let place = schema.reference.flatMap({ Int($0) }) {
      return definitions[place].schema.map(members) ?? []
    }
    let cases = ["oneOf", "anyOf"].lazy.compactMap { schema.keywords[$0]?.array }.first
    guard let cases else { return schema.members }
    let members = cases.compactMap(\.object).map { self.members(of: JSONSchema($0)) }
    var all: [JSONSchema.Member] = []
    for var member in members.joined() where !all.contains(where: { $0.name == member.name }) {
      member.isRequired = members.allSatisfy { members in
        members.contains { $0.name == member.name && $0.isRequired }
      }
      all.append(member)
    }
    return all
  }
}

// MARK: - Probing types

extension JSONSchemas {
  /// Returns the schema of a type as determined by decoding it, for a type that provides only a
  /// part of its schema.
  ///
  /// - Throws: Errors of the type's decoding.
  public func probed<T: Decodable>(_ type: T.Type) throws -> JSONSchema {
    guard let place = places[Key(type: ObjectIdentifier(type), direction: direction)] else {
      return try schema(of: type)
    }
    return try probed(type, at: place)
  }

  private func probed<T: Decodable>(_ type: T.Type, at place: Int) throws -> JSONSchema {
    let probe = SchemaProbe(self)
    var fault: (any Error)?
    do { _ = try T(from: probe) } catch { fault = error }
    if let cases = probe.cases { return try probedCases(type, cases, at: place) }
    switch probe.shape {
    case .single(let schema):
      // An enum with raw values has decoded one and does not know the value that it got.
      if let values = Self.rawValues(of: type) { return .oneOf(values: values) }
      if let fault = fault as? Unready { throw fault }
      return schema
    case .array:
      if let fault { throw fault }
      return .array(of: probe.element ?? .anything)
    case .object, nil:
      if let fault { throw fault }
      return .object(probe.members)
    }
  }

  /// Decodes each case of an enum. Cases that contain the enum itself are retried after others.
  private func probedCases<T: Decodable>(
    _ type: T.Type, _ cases: [String], at place: Int
  ) throws -> JSONSchema {
    var found = [JSONSchema?](repeating: nil, count: cases.count)
    var isProgress = true
    while isProgress, found.contains(nil) {
      isProgress = false
      for (number, name) in cases.enumerated() where found[number] == nil {
        let probe = SchemaProbe(self, case: number)
        do {
          _ = try T(from: probe)
        } catch is Unready {
          continue
        }
        let schema = JSONSchema.tagged(name, probe.members)
        found[number] = schema
        isProgress = true
        if definitions[place].instance == nil {
          definitions[place].instance = instance(of: schema)
        }
      }
    }
    guard !found.contains(nil) else { throw Unready() }
    return .oneOf(found.compactMap { $0 })
  }

  private static func rawValues<T>(of type: T.Type) -> [JSONValue]? {
    guard let cases = allCases(of: type) else { return nil }
    let values = cases.map { one -> JSONValue? in
      switch (one as? any RawRepresentable)?.rawValue {
      case let text as String: .string(text)
      case let number as any BinaryInteger: Int64(exactly: number).map { .number(JSONNumber($0)) }
      default: nil
      }
    }
    return values.contains(nil) ? nil : values.compactMap { $0 }
  }

  private static func scalar(_ type: Any.Type) -> JSONSchema? {
    switch type {
    case is Bool.Type: .boolean
    case is String.Type: .string()
    case is Double.Type, is Float.Type: .number()
    case is Int.Type, is Int64.Type, is Int128.Type: .integer()
    case is UInt.Type, is UInt64.Type, is UInt128.Type: .integer(minimum: 0)
    case is Int8.Type: .integer(minimum: Int(Int8.min), maximum: Int(Int8.max))
    case is Int16.Type: .integer(minimum: Int(Int16.min), maximum: Int(Int16.max))
    case is Int32.Type: .integer(minimum: Int(Int32.min), maximum: Int(Int32.max))
    case is UInt8.Type: .integer(minimum: 0, maximum: Int(UInt8.max))
    case is UInt16.Type: .integer(minimum: 0, maximum: Int(UInt16.max))
    case is UInt32.Type: .integer(minimum: 0, maximum: Int(UInt32.max))
    default: nil
    }
  }
}

// MARK: - Names

extension JSONSchemas {
  /// Returns the name of a type's definition: `Stopwatch.Input` becomes StopwatchInput, without its
  /// module and generic arguments. A second type with the same name gets a number.
  private func name(of type: Any.Type) -> String {
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
      value.replacingReferences { Int($0).map { prefix + name($0) } ?? $0 }
    }
    let members = places.values.filter { replaced[$0] == nil }.map { place in
      let name = name(place)
      let schema = definitions[place].schema ?? .anything
      return (name, named(schema.titled(name).withTitledCases.value))
    }
    let sorted = members.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
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
