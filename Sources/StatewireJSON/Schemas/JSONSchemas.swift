// SPDX-License-Identifier: Apache-2.0

/// The schemas of types, those with a name being collected as definitions.
///
/// A type may look different where it is read and where it is written: a member that may be absent is
/// always there, as null, in what we write. Then it has two definitions, and the one that is read is
/// called `…Given`.
///
/// What a type looks like is found out by asking it (`SchemaProbe`), or said by the type
/// (`JSONDescribed`). A type that neither works for may be anything.
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
    /// Nil while it is being found out, and again if that has to wait.
    var schema: JSONSchema?
    /// A value of the type, once one is known.
    var instance: JSONValue?
  }

  private(set) var direction = Direction.written
  /// Whether the type that is asked is written; otherwise it is read.
  public var isWritten: Bool { direction == .written }
  /// References are to places in here until all is finished.
  private var definitions: [Definition] = []
  private var places: [Key: Int] = [:]
  private var names: [String: ObjectIdentifier] = [:]

  public init() {}

  /// The schema of what is read as a type.
  public func read(_ type: Any.Type) -> JSONSchema { schema(of: type, .read) }

  /// The schema of what a type is written as.
  public func written(_ type: Any.Type) -> JSONSchema { schema(of: type, .written) }

  private func schema(of type: Any.Type, _ direction: Direction) -> JSONSchema {
    let outer = self.direction
    self.direction = direction
    defer { self.direction = outer }
    return (try? schema(of: type)) ?? .anything
  }

  /// The schema of a type, read or written as the one that asks.
  ///
  /// - Throws: If the type that asks has to be known first.
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

  /// A type that contains itself, and of which no value is known yet.
  private struct Unready: Error {}
}

// MARK: - Values

extension JSONSchemas {
  /// A small value of a type.
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
  /// The members of objects that fit a schema; of several cases those of all, required where they are
  /// in each.
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

// MARK: - Finding out

extension JSONSchemas {
  /// What a type looks like as its decoding shows, for one that describes itself in part only.
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
      // An enum of texts or numbers has asked for one, and does not know the one it got.
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

  /// Asks an enum about each of its cases. Those that contain the enum itself wait for others.
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
  /// `Stopwatch.Input` is called StopwatchInput, whatever its module and its generic arguments; a
  /// second type of one name gets a number.
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

  /// Gives all that was found out its names.
  ///
  /// - Parameters:
  ///   - document: Has schemas in it that came from here.
  ///   - prefix: What stands before a name in a reference, `#/definitions/` say.
  /// - Returns: The document with references by name, and the definitions by name.
  public func finished(
    _ document: JSONValue, prefix: String
  ) -> (document: JSONValue, definitions: JSONObject) {
    let replaced = alike()
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

  /// The places of what is read and looks the same written, each with that other place.
  private func alike() -> [Int: Int] {
    var alike: [Int: Int] = [:]
    for (key, place) in places where key.direction == .read {
      alike[place] = places[Key(type: key.type, direction: .written)]
    }
    // Taken to be alike until something is found that is not: they may refer to one another.
    func schema(_ place: Int) -> JSONValue? {
      definitions[place].schema?.value.replacingReferences { target in
        Int(target).flatMap { alike[$0] }.map { "\($0)" } ?? target
      }
    }
    while let different = alike.first(where: { schema($0.key) != schema($0.value) }) {
      alike[different.key] = nil
    }
    return alike
  }
}

extension JSONSchema {
  /// The same, the cases of an enum with payloads having titles too: its own and theirs.
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
  /// With a large first letter.
  fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
