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

  let schemas: JSONSchemas
  /// The index of the enum case to decode.
  let chosen: Int
  fileprivate(set) var shape: Shape?
  /// The cases, if the type is an enum with synthesized coding.
  fileprivate(set) var cases: [String]?
  fileprivate(set) var members: [JSONSchema.Member] = []
  fileprivate(set) var element: JSONSchema?
  fileprivate var optionals: [String] = []

  init(_ schemas: JSONSchemas, case chosen: Int = 0) {
    self.schemas = schemas
    self.chosen = chosen
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    shape = shape ?? .object
    return KeyedDecodingContainer(ProbedMembers<Key>(probe: self, isPayload: false))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    shape = shape ?? .array
    return ProbedElements(probe: self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    ProbedValue(probe: self)
  }

  fileprivate func note(_ name: String, _ schema: JSONSchema, isOptional: Bool) {
    guard !members.contains(where: { $0.name.hasSameBytes(as: name) }) else { return }
    // An optional member may be absent when it is read, but is always present when it is written.
    let isRequired = !isOptional || schemas.direction == .written
    members.append(
      JSONSchema.Member(
        name: name, schema: isOptional ? schema.orNull : schema, isRequired: isRequired))
  }

  /// The error for a request that a probe does not support.
  struct Unsupported: Error {}
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
    probe.note(name(key), try probe.schemas.schema(of: type), isOptional: isOptional)
    return try probe.schemas.value(of: type)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    probe.note(name(key), try probe.schemas.schema(of: type), isOptional: true)
    return nil
  }

  private func name(_ key: Key) -> String {
    isPayload ? Tagging.wireName(ofField: key.stringValue) : key.stringValue
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    guard probe.cases != nil, !isPayload else { throw SchemaProbe.Unsupported() }
    return KeyedDecodingContainer(ProbedMembers<Nested>(probe: probe, isPayload: true))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw SchemaProbe.Unsupported()
  }

  func superDecoder() throws -> any Decoder { throw SchemaProbe.Unsupported() }

  func superDecoder(forKey key: Key) throws -> any Decoder { throw SchemaProbe.Unsupported() }
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
    // The elements have different schemas, as in a tuple.
    probe.element = probe.element.map { $0 == schema ? schema : .anything } ?? schema
    currentIndex += 1
    return try probe.schemas.value(of: type)
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    throw SchemaProbe.Unsupported()
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw SchemaProbe.Unsupported()
  }

  mutating func superDecoder() throws -> any Decoder { throw SchemaProbe.Unsupported() }
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
