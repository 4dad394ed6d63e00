// SPDX-License-Identifier: Apache-2.0

/// The members of an object, or of the part of it that is an enum's payload.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let text: DecodedText
  let object: DecodedObject
  /// True if the keys are the fields of a case; the member `type` then names the case and is not a
  /// field.
  let isPayload: Bool

  var codingPath: [any CodingKey] { text.path(to: object.offset).map(PathKey.init) }

  var allKeys: [Key] {
    if isPayload {
      return object.members.compactMap {
        Tagging.field(wireName: $0.key.string).flatMap(Key.init(stringValue:))
      }
    }
    if Tagging.isClosed(Key.self) {
      let key = tag.flatMap(Key.init(stringValue:))
      text.lastCases = (object.offset, key != nil)
      if let key { return [key] }
    }
    return object.members.compactMap { Key(stringValue: $0.key.string) }
  }

  func contains(_ key: Key) -> Bool { member(key) != nil }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    var nested = object
    let isPayload = try isCase(key)
    if !isPayload { nested = try DecodedObject(text, at: offset(key)) }
    return KeyedDecodingContainer(
      KeyedDecoding<Nested>(text: text, object: nested, isPayload: isPayload))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try SequenceDecoding(text, at: offset(key))
  }

  func superDecoder() throws -> any Decoder { try superDecoder(named: "super") }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try superDecoder(named: key.stringValue)
  }

  private func superDecoder(named name: String) throws -> any Decoder {
    TextDecoder(text: text, offset: try offset(name))
  }
}

// MARK: - Finding

extension KeyedDecoding {
  private func member(_ key: Key) -> DecodedObject.Member? { member(key.stringValue) }

  private func member(_ name: String) -> DecodedObject.Member? {
    object.member(isPayload ? Tagging.wireName(ofField: name) : name)
  }

  private func offset(_ key: Key) throws(JSONError) -> Int { try offset(key.stringValue) }

  /// Returns the offset at which the value of a required member starts.
  ///
  /// - Throws: `missing` if the object has no such member.
  private func offset(_ name: String) throws(JSONError) -> Int {
    if let member = member(name) { return member.offset }
    let wireName = isPayload ? Tagging.wireName(ofField: name) : name
    throw JSONError(
      .missing, "a member is missing", offset: object.offset,
      path: text.path(to: object.offset) + [.key(wireName)])
  }

  /// Returns the offset at which the value of a member starts, or nil if the member is absent or
  /// null.
  private func offsetIfPresent(_ key: Key) -> Int? {
    guard let offset = member(key)?.offset, !text.isNull(at: offset) else { return nil }
    return offset
  }

  /// The string value of the object's `type`; nil if it has none.
  private var tag: String? {
    guard let member = object.member(Tagging.tag),
      let tag = try? text.read(String.self, at: member.offset), tag.isStreamSafe
    else { return nil }
    return tag
  }

  /// Returns true if the nested container for a key is the payload of a case, which this object
  /// contains.
  private func isCase(_ key: Key) throws(JSONError) -> Bool {
    guard !isPayload else { return false }
    if let cases = text.lastCases, cases.object == object.offset {
      // This is synthesized code, because it has just requested the keys. An object without a known
      // tag is an error.
      guard cases.isTagged else { throw text.noCase(inObjectAt: object.offset) }
      return true
    }
    return isNamedByTag(key)
  }

  // A function of its own, so that the code above does not look up the type of optional keys.
  @inline(never)
  private func isNamedByTag(_ key: Key) -> Bool {
    // In a type that has a field `type`, that member does not name a case.
    guard Tagging.isClosed(Key.self), Key(stringValue: Tagging.tag) == nil, let tag else {
      return false
    }
    return tag.hasSameBytes(as: key.stringValue)
  }
}

// MARK: - Values

extension KeyedDecoding {
  func decodeNil(forKey key: Key) throws -> Bool { text.isNull(at: try offset(key)) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    if let member = member(key) { return try text.decode(type, at: member.offset) }
    if let optional = type as? any AbsentValue.Type {
      // A generic parameter that is an optional: an absent member is nil here too. The cast cannot
      // fail: `optional` is `T`, and `absent` is a value of that type.
      return optional.absent as! T
    }
    return try text.decode(type, at: offset(key))
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let offset = offsetIfPresent(key) else { return nil }
    return try text.decode(type, at: offset)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try text.read(type, at: offset(key))
  }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try text.read(type, at: offset(key))
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }

  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try offsetIfPresent(key).map { try text.read(type, at: $0) }
  }
}

/// A type with a value that represents an absent member: optionals.
private protocol AbsentValue {
  static var absent: Self { get }
}

extension Optional: AbsentValue {
  fileprivate static var absent: Self { nil }
}
