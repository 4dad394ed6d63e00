// SPDX-License-Identifier: Apache-2.0

/// A decoder without input: it records the values that a type requests and returns small values for
/// them.
final class SchemaProbe: Decoder {
  /// The kind of container that a type requested first.
  enum Shape {
    case object
    case array
    case single(JSONSchema)
  }

  /// A member, whose value may be recorded by a probe of its own.
  struct Member {
    let name: String
    let isOptional: Bool
    let schema: () -> JSONSchema
  }

  let schemas: JSONSchemas
  /// The index of the enum case to decode.
  let chosen: Int
  fileprivate(set) var shape: Shape?
  /// The cases, if the type is an enum with synthesized coding.
  fileprivate(set) var cases: [String]?
  /// All keys of the object, or of the payload of the case, if they are a fixed set.
  fileprivate(set) var keys: [ProbedKey] = []
  fileprivate var found: [Member] = []
  fileprivate var elements: [() -> JSONSchema] = []
  fileprivate var optionals: [String] = []

  init(_ schemas: JSONSchemas, case chosen: Int = 0) {
    self.schemas = schemas
    self.chosen = chosen
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(members(keyedBy: type))
  }

  fileprivate func members<Key: CodingKey>(keyedBy type: Key.Type) -> ProbedMembers<Key> {
    shape = shape ?? .object
    keys += ProbedKey.all(of: type)
    return ProbedMembers<Key>(probe: self, isPayload: false)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    shape = shape ?? .array
    return ProbedElements(probe: self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    ProbedValue(probe: self)
  }

  fileprivate func child() -> SchemaProbe { SchemaProbe(schemas) }

  /// The error for a member of which no value can be made, so that decoding cannot continue.
  struct NoValue: Error {}
}

// MARK: - Results

extension SchemaProbe {
  /// The members so far.
  var members: [JSONSchema.Member] {
    found.map { member in
      let schema = member.schema()
      // An optional member may be absent when it is read, but is always present when it is written.
      return JSONSchema.Member(
        name: member.name, schema: member.isOptional ? schema.orNull : schema,
        isRequired: !member.isOptional || schemas.direction == .written)
    }
  }

  /// The schema of the elements so far.
  var element: JSONSchema {
    var different: [JSONSchema] = []
    for element in elements.map({ $0() }) where !different.contains(element) {
      different.append(element)
    }
    return different.count > 1 ? .anyOf(different) : different.first ?? .anything
  }

  /// The schema of the recorded value.
  var schema: JSONSchema {
    switch shape {
    case .single(let schema): schema
    case .array: .array(of: element)
    case .object, nil: .object(members)
    }
  }

  func note(_ name: String, isOptional: Bool, _ schema: @escaping () -> JSONSchema) {
    guard !found.contains(where: { $0.name.hasSameBytes(as: name) }) else { return }
    found.append(Member(name: name, isOptional: isOptional, schema: schema))
  }

  /// Returns true if the member has been recorded.
  func hasMember(_ name: String) -> Bool { found.contains { $0.name.hasSameBytes(as: name) } }
}

/// The members of an object.
private struct ProbedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let probe: SchemaProbe
  let isPayload: Bool

  var codingPath: [any CodingKey] { [] }

  var allKeys: [Key] {
    guard Tagging.isClosed(Key.self), let keys = StatewireJSON.allCases(of: Key.self) else {
      return []
    }
    probe.cases = keys.map(\.stringValue)
    return keys.indices.contains(probe.chosen) ? [keys[probe.chosen]] : []
  }

  func contains(_ key: Key) -> Bool {
    probe.optionals.append(key.stringValue)
    return true
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    probe.optionals.append(key.stringValue)
    return false
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    let isOptional = probe.optionals.contains { $0.hasSameBytes(as: key.stringValue) }
    let schema = try probe.schemas.schema(of: type, at: name(key))
    probe.note(name(key), isOptional: isOptional) { schema }
    return try probe.schemas.value(of: type)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    let schema = try probe.schemas.schema(of: type, at: name(key))
    probe.note(name(key), isOptional: true) { schema }
    return nil
  }

  private func name(_ key: Key) -> String {
    isPayload ? Tagging.wireName(ofField: key.stringValue) : key.stringValue
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    if probe.cases != nil, !isPayload {
      probe.keys = ProbedKey.all(of: type)
      return KeyedDecodingContainer(ProbedMembers<Nested>(probe: probe, isPayload: true))
    }
    return try child(name(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try child(name(key)).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { child("super") }

  func superDecoder(forKey key: Key) throws -> any Decoder { child(name(key)) }

  /// Returns a probe for the value of a member.
  private func child(_ name: String) -> SchemaProbe {
    let child = probe.child()
    probe.note(name, isOptional: false) { child.schema }
    return child
  }
}

/// The elements of an array that contains one element.
private struct ProbedElements: UnkeyedDecodingContainer {
  let probe: SchemaProbe
  private(set) var currentIndex = 0

  init(probe: SchemaProbe) { self.probe = probe }

  var codingPath: [any CodingKey] { [] }
  var count: Int? { nil }
  var isAtEnd: Bool { currentIndex > 0 }

  mutating func decodeNil() throws -> Bool { false }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let schema = try probe.schemas.schema(of: type)
    probe.elements.append { schema }
    currentIndex += 1
    return try probe.schemas.value(of: type)
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    try child().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try child().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { child() }

  /// Returns a probe for the next element.
  private mutating func child() -> SchemaProbe {
    let child = probe.child()
    probe.elements.append { child.schema }
    currentIndex += 1
    return child
  }
}

/// A single value.
private struct ProbedValue: SingleValueDecodingContainer {
  let probe: SchemaProbe

  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { false }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let schema = try probe.schemas.schema(of: type)
    if probe.shape == nil { probe.shape = .single(schema) }
    return try probe.schemas.value(of: type)
  }
}
