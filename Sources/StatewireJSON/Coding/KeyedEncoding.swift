// SPDX-License-Identifier: Apache-2.0

/// The members of an object that is being written, or of an enum's payload in it.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let text: EncodedText
  let depth: Int
  let id: Int
  let start: Int
  /// True if the keys are the fields of a case; the member `type` then names the case and is not a
  /// field.
  let isPayload: Bool

  var codingPath: [any CodingKey] { text.path(to: start).map(PathKey.init) }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    if !isPayload, isEmpty, Tagging.isClosed(Key.self), enter("type") {
      // Synthesized code starts an enum in this way: the payload is written into this object.
      text.writer.value(key.stringValue)
      return KeyedEncodingContainer(
        KeyedEncoding<Nested>(text: text, depth: depth, id: id, start: start, isPayload: true))
    }
    let (text, depth, start, id) = open(.object, key.stringValue)
    return KeyedEncodingContainer(
      KeyedEncoding<Nested>(text: text, depth: depth, id: id, start: start, isPayload: false))
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    let (text, depth, start, id) = open(.array, key.stringValue)
    return SequenceEncoding(text: text, depth: depth, id: id, start: start)
  }

  mutating func superEncoder() -> any Encoder { superEncoder(named: "super") }

  mutating func superEncoder(forKey key: Key) -> any Encoder {
    superEncoder(named: key.stringValue)
  }

  private func superEncoder(named name: String) -> any Encoder {
    let (text, depth, start, _) = open(.promise, name)
    return TextEncoder(text: text, depth: depth + 1, start: start)
  }
}

// MARK: - Keys

extension KeyedEncoding {
  private var isEmpty: Bool {
    depth < text.levels.count && text.levels[depth].id == id && text.levels[depth].count == 0
  }

  /// Writes the key of a member, and lets the value fail if the key cannot be decoded again.
  ///
  /// - Returns: False if the whole value has to be written again.
  private func enter(_ name: String) -> Bool {
    guard text.enter(depth: depth, id: id) else { return false }
    check(name)
    text.writer.key(isPayload ? Tagging.wireName(ofField: name) : name)
    return true
  }

  private func enter(_ key: Key) throws(JSONError) {
    guard enter(key.stringValue) else { throw Self.interleaved }
  }

  /// Lets the value fail if a key cannot be decoded again: `DecodedObject` refuses it.
  private func check(_ name: String) {
    if name.isStreamSafe { return }
    text.fail(
      JSONError(.value, "a key has more than 30 marks in a row", path: text.path(to: start)))
  }

  private static var interleaved: JSONError {
    JSONError(.value, "a container was used after its value was complete")
  }

  private func open(
    _ kind: EncodedText.Level.Kind, _ name: String
  ) -> (text: EncodedText, depth: Int, start: Int, id: Int) {
    guard enter(name) else { return EncodedText.discarded(kind) }
    return text.openNested(kind)
  }
}

// MARK: - Values

extension KeyedEncoding {
  mutating func encodeNil(forKey key: Key) throws {
    try enter(key)
    text.writer.null()
  }

  mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    if depth == 0, let members = text.members {
      return try encode(value, key.stringValue, keeping: members)
    }
    try enter(key)
    try text.encode(value)
  }

  /// Writes a member of the outermost value: its previous text if it has not changed.
  private func encode<T: Encodable>(
    _ value: T, _ name: String, keeping members: EncodedMembers
  ) throws {
    guard text.enter(depth: depth, id: id) else { throw Self.interleaved }
    check(name)
    let name = isPayload ? Tagging.wireName(ofField: name) : name
    if members.writeKept(value, name, to: &text.writer) { return }
    text.writer.key(name)
    let start = text.writer.count
    let leaves = text.writer.leaves?.count
    try text.encode(value)
    members.keep(
      value, start..<text.writer.count, hasLeaves: text.writer.leaves?.count != leaves)
  }

  mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encode(_ value: Bool, forKey key: Key) throws {
    try enter(key)
    text.writer.value(value)
  }

  mutating func encode(_ value: String, forKey key: Key) throws {
    try enter(key)
    text.writer.value(value)
  }

  mutating func encode(_ value: Double, forKey key: Key) throws {
    try enter(key)
    try text.check(value)
    text.writer.value(value)
  }

  mutating func encode(_ value: Float, forKey key: Key) throws {
    try enter(key)
    try text.check(value)
    text.writer.value(value)
  }

  mutating func encode(_ value: Int, forKey key: Key) throws {
    try enter(key)
    text.writer.integer(value)
  }

  mutating func encode(_ value: Int8, forKey key: Key) throws {
    try enter(key)
    text.writer.integer(value)
  }

  mutating func encode(_ value: Int16, forKey key: Key) throws {
    try enter(key)
    text.writer.integer(value)
  }

  mutating func encode(_ value: Int32, forKey key: Key) throws {
    try enter(key)
    text.writer.integer(value)
  }

  mutating func encode(_ value: Int64, forKey key: Key) throws {
    try enter(key)
    text.writer.integer(value)
  }

  mutating func encode(_ value: Int128, forKey key: Key) throws {
    try enter(key)
    value.write(to: &text.writer)
  }

  mutating func encode(_ value: UInt, forKey key: Key) throws {
    try enter(key)
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt8, forKey key: Key) throws {
    try enter(key)
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt16, forKey key: Key) throws {
    try enter(key)
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt32, forKey key: Key) throws {
    try enter(key)
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt64, forKey key: Key) throws {
    try enter(key)
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt128, forKey key: Key) throws {
    try enter(key)
    value.write(to: &text.writer)
  }

  mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: Int128?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }
}
