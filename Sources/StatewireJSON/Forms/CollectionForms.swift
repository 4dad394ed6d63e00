// SPDX-License-Identifier: Apache-2.0

// The order of a `Set` or of a dictionary differs from one run of a program to the next, and an
// array in another order is another state. Therefore arrays made of them are sorted.

/// Returns elements in an order that depends only on their values: ascending if they can be
/// compared, otherwise in the order of their JSON texts.
private func ordered<Element: Encodable>(_ elements: some Collection<Element>) throws -> [Element] {
  func ascending<Value: Comparable>(_ type: Value.Type) -> [Element] {
    // The casts cannot fail: `Value` is `Element`.
    elements.map { $0 as! Value }.sorted() as! [Element]
  }
  if let type = Element.self as? any Comparable.Type { return ascending(type) }
  return try elements.map { (text: try JSON.encode($0), element: $0) }
    .sorted { $0.text.lexicographicallyPrecedes($1.text) }.map(\.element)
}

extension Set: StandardEncoding where Element: Encodable {
  func encodeForm(to encoder: TextEncoder) throws {
    var container = encoder.unkeyedContainer()
    for element in try ordered(self) { try container.encode(element) }
  }
}

extension Set: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of an array of the element type.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .array(of: try schemas.schema(of: Element.self))
  }
}

// MARK: - Dictionaries

/// The key of a member with any name.
private struct MemberKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// An entry of a dictionary whose keys are not coded as strings.
private struct Entry<Key, Value> {
  let key: Key
  let value: Value
  enum CodingKeys: CodingKey { case key, value }
}

extension Entry: Encodable where Key: Encodable, Value: Encodable {}
extension Entry: Decodable where Key: Decodable, Value: Decodable {}

extension Dictionary: StandardEncoding where Key: Encodable, Value: Encodable {
  func encodeForm(to encoder: TextEncoder) throws {
    switch DictionaryForm.of(Key.self) {
    case .ownObject:
      try encode(to: encoder)
    case .object:
      var container = encoder.container(keyedBy: MemberKey.self)
      for (key, value) in self {
        try container.encode(value, forKey: MemberKey(try DictionaryForm.name(of: key, encoder)))
      }
    case .entries:
      var container = encoder.unkeyedContainer()
      for key in try ordered(keys) {
        if let value = self[key] { try container.encode(Entry(key: key, value: value)) }
      }
    }
  }
}

extension Dictionary: StandardDecoding where Key: Decodable, Value: Decodable {
  static func decodeForm(from decoder: TextDecoder) throws -> [Key: Value] {
    let isArray = decoder.firstByte == UInt8(ascii: "[")
    switch DictionaryForm.of(Key.self) {
    case .ownObject:
      return try Self(from: decoder)
    case .object:
      // The form that `Dictionary` itself encodes: keys and values in turn.
      if isArray { return try Self(from: decoder) }
      let object = try DecodedObject(decoder.text, at: decoder.offset)
      var dictionary = Self(minimumCapacity: object.members.count)
      for member in object.members {
        let key = try DictionaryForm.key(Key.self, named: member.key.string, decoder)
        dictionary[key] = try decoder.text.decode(Value.self, at: member.offset)
      }
      return dictionary
    case .entries:
      do {
        var dictionary: Self = [:]
        for entry in try [Entry<Key, Value>](from: decoder) { dictionary[entry.key] = entry.value }
        return dictionary
      } catch {
        if isArray, let dictionary = try? Self(from: decoder) { return dictionary }
        throw error
      }
    }
  }
}

extension Dictionary: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of an object with any keys, or of an array of entries if the keys are not
  /// coded as strings.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    let value = try schemas.schema(of: Value.self)
    guard DictionaryForm.of(Key.self) == .entries else {
      var map = JSONSchema.map(of: value)
      if Key.self != String.self {
        map.keywords["propertyNames"] = try DictionaryForm.names(of: Key.self, schemas)?.value
      }
      return map
    }
    return .array(
      of: .object([
        .member("key", try schemas.schema(of: Key.self)), .member("value", value),
      ]))
  }
}
