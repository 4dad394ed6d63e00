// SPDX-License-Identifier: Apache-2.0

/// A collection of the schemas of types; named schemas become definitions.
///
/// A type may have a different schema for reading and for writing: a member that may be absent when
/// read is always present, possibly null, when the program writes it. Such a type has two
/// definitions, and the one for reading is named `…Given`.
///
/// The schema of a type is determined by decoding it with a probe (`SchemaProbe`) or provided by
/// the type (`JSONDescribed`). If neither works for a type, its schema allows every value, and a
/// warning names it (`takeWarnings`); the types that contain it are described as usual.
public final class JSONSchemas {
  enum Direction { case read, written }

  struct Key: Hashable {
    let type: ObjectIdentifier
    let direction: Direction
  }

  struct Definition {
    let key: Key
    /// The name of the type.
    let name: String
    /// Nil while it is being determined, and also if another type has to be determined first.
    var schema: JSONSchema?
    /// A value of the type, set once one is known.
    var instance: JSONValue?
    /// The warnings about the type and the types in it, with paths that begin at the type.
    var warnings: [Warning] = []
  }

  private(set) var direction = Direction.written
  /// True while the schema of a written type is determined; false for a type that is read.
  public var isWritten: Bool { direction == .written }
  /// The definitions so far. Until `finished`, references contain indices into this array.
  private(set) var definitions: [Definition] = []
  private(set) var places: [Key: Int] = [:]
  /// The definitions of schemas that other programs have written, by name.
  var adopted: [String: JSONSchema] = [:]
  /// The names of definitions.
  var names: [String: ObjectIdentifier] = [:]
  /// The names of the members around the value whose schema is determined.
  private var path: [String] = []
  private var warnings: [Warning] = []

  /// Creates an empty collection.
  public init() {}

  /// Returns the schema of JSON from which a type is read.
  public func read(_ type: Any.Type) -> JSONSchema { schema(of: type, .read) }

  /// Returns the schema of JSON that a type is written as.
  public func written(_ type: Any.Type) -> JSONSchema { schema(of: type, .written) }

  private func schema(of type: Any.Type, _ direction: Direction) -> JSONSchema {
    let outer = (self.direction, path)
    self.direction = direction
    path = []
    defer { (self.direction, path) = outer }
    if let schema = try? schema(of: type) { return schema }
    warn("no value of \(type) can exist")
    return .anything
  }

  /// Returns the schema of a type that is the value of a member.
  func schema(of type: Any.Type, at member: String) throws -> JSONSchema {
    path.append(member)
    defer { path.removeLast() }
    return try schema(of: type)
  }

  /// Returns the schema of a type, for reading or writing like the type whose schema is being
  /// determined.
  ///
  /// - Throws: An error if the type whose schema is being determined has to be known first.
  public func schema(of type: Any.Type) throws -> JSONSchema {
    if let scalar = Self.scalar(type) { return scalar }
    if let vector = type as? any SIMD.Type { return try vectorSchema(vector) }
    let described = type as? any JSONDescribed.Type
    if let described, !described.isDescribedByName { return try described.schema(in: self) }

    let key = Key(type: ObjectIdentifier(type), direction: direction)
    if let place = places[key] {
      for warning in definitions[place].warnings { add(warning.under(path)) }
      return .reference("\(place)")
    }
    let earlier = warnings.count
    let place = definitions.count
    places[key] = place
    definitions.append(Definition(key: key, name: name(of: type)))
    do {
      if let described {
        finish(place, try described.schema(in: self))
      } else if let decodable = type as? any Decodable.Type {
        finish(place, try probed(decodable, at: place))
      } else {
        warn("\(type) is not Decodable and does not describe itself (JSONDescribed)")
        finish(place, .anything)
      }
    } catch is Unready {
      definitions[place].instance = nil
      places[key] = nil
      warnings.removeSubrange(earlier...)
      throw Unready()
    } catch {
      warn(
        "\(type) cannot be decoded from small values, and does not describe itself (JSONDescribed)")
      definitions[place].schema = .anything
    }
    if let documented = type as? any SchemaDocumented.Type {
      definitions[place].schema = definitions[place].schema?.documented(by: documented) {
        warn("memberDescriptions of \(type) has \($0.quoted()), which is not a member")
      }
    }
    definitions[place].warnings = warnings[min(earlier, warnings.count)...].map {
      $0.within(path.count)
    }
    return .reference("\(place)")
  }

  private func vectorSchema<Vector: SIMD>(_ type: Vector.Type) throws -> JSONSchema {
    var array = JSONSchema.array(of: try schema(of: Vector.Scalar.self))
    array.keywords["minItems"] = .number(JSONNumber(Vector.scalarCount))
    array.keywords["maxItems"] = .number(JSONNumber(Vector.scalarCount))
    return array
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

// MARK: - Warnings

extension JSONSchemas {
  /// A fault of a type that makes its schema say less than it should.
  public struct Warning: Hashable, Sendable {
    /// The names of the members that lead to the value; empty for the type itself.
    ///
    /// Elements of arrays and values of dictionaries have the path of their collection.
    public var path: [String]
    /// The fault.
    public let message: String

    fileprivate func under(_ outer: [String]) -> Warning {
      Warning(path: outer + path, message: message)
    }

    fileprivate func within(_ count: Int) -> Warning {
      Warning(path: Array(path.dropFirst(count)), message: message)
    }
  }

  /// Returns the warnings about the schemas since the last call.
  public func takeWarnings() -> [Warning] {
    defer { warnings = [] }
    return warnings
  }

  private func warn(_ message: String) { add(Warning(path: path, message: message)) }

  private func add(_ warning: Warning) {
    if !warnings.contains(warning) { warnings.append(warning) }
  }
}

// MARK: - Values

extension JSONSchemas {
  /// Returns a small value of a type.
  ///
  /// - Throws: `SchemaProbe.NoValue` if the type cannot be decoded from any of the values tried.
  package func value<T: Decodable>(of type: T.Type) throws -> T {
    // The schema was requested before, so its warnings have been added.
    let earlier = warnings
    let schema = try schema(of: type)
    warnings = earlier
    guard let instance = instance(of: schema) else {
      if let place = schema.reference.flatMap({ Int($0) }), definitions[place].schema != nil {
        throw SchemaProbe.NoValue()
      }
      throw Unready()
    }
    for value in [instance] + Self.alternatives(to: instance) {
      if let value = try? JSON.decode(type, from: value) { return value }
    }
    throw SchemaProbe.NoValue()
  }

  /// Returns other small values for a type that is not decoded from "" or 0.
  private static func alternatives(to value: JSONValue) -> [JSONValue] {
    switch value {
    case .string: ["a", "A", "1", "00", "a@example.com", "https://example.com/"]
    case .number: [1, -1]
    case .bool: [true]
    default: []
    }
  }

  private func instance(of schema: JSONSchema) -> JSONValue? {
    schema.instance { Int($0).flatMap { definitions[$0].instance } }
  }

  /// Returns the JSON type of the values of a type, `string` or `integer`; nil for any other type.
  func scalarKind(of type: Any.Type) -> String? {
    var schema = written(type)
    while let place = schema.reference.flatMap({ Int($0) }) {
      guard let target = definitions[place].schema else { return nil }
      schema = target
    }
    if let values = schema.keywords["enum"]?.array, values.allSatisfy({ $0.int != nil }) {
      return "integer"
    }
    return schema.keywords["type"]?.string
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
    let earlier = warnings
    var fault: (any Error)?
    do { _ = try T(from: probe) } catch { fault = error }
    if let cases = probe.cases {
      // The case that was decoded is decoded again, below its name.
      warnings = earlier
      return try probedCases(type, cases, at: place)
    }
    switch probe.shape {
    case .single(let schema):
      // An enum with raw values has decoded one and does not know the value that it got.
      if let values = Self.rawValues(of: type) { return .oneOf(values: values) }
      if let fault = fault as? Unready { throw fault }
      return schema
    case .array:
      if let fault { throw fault }
      return probe.schema
    case .object, nil:
      if let fault { try complete(probe, of: type, after: fault) }
      return probe.schema
    }
  }

  /// Adds the members that the decoding of a type would have requested after it stopped.
  ///
  /// - Throws: `fault` if the decoding cannot be continued later, or if nothing is known about the
  ///   type.
  private func complete(_ probe: SchemaProbe, of type: Any.Type, after fault: any Error) throws {
    guard !(fault is Unready), !probe.keys.isEmpty else { throw fault }
    let properties = storedProperties(of: type)
    for key in probe.keys where !probe.hasMember(key.name) {
      guard let property = properties[key.property] else {
        noteUnknown(key, key.name, probe)
        continue
      }
      let schema = try schema(of: property, at: key.name)
      probe.note(key.name, isOptional: property is any OptionalType.Type) { schema }
    }
  }

  /// Adds a member of which only the name is known.
  private func noteUnknown(_ key: ProbedKey, _ name: String, _ probe: SchemaProbe) {
    guard !probe.hasMember(name) else { return }
    path.append(name)
    defer { path.removeLast() }
    warn("the type of this member is not known, because decoding stops at a member before it")
    probe.note(name, isOptional: true) { .anything }
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
        path.append(name)
        defer { path.removeLast() }
        do {
          _ = try T(from: probe)
        } catch is Unready {
          continue
        } catch {
          for key in probe.keys { noteUnknown(key, Tagging.wireName(ofField: key.name), probe) }
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
    case is Int.Type, is Int64.Type: .integer()
    case is UInt.Type, is UInt64.Type: .integer(minimum: 0)
    case is Int128.Type: .string(pattern: "^-?[0-9]+$", format: "integer", example: "0")
    case is UInt128.Type: .string(pattern: "^[0-9]+$", format: "integer", example: "0")
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

/// An optional of any type.
private protocol OptionalType {}
extension Optional: OptionalType {}
