// SPDX-License-Identifier: Apache-2.0

/// The elements of an array that is being written.
struct SequenceEncoding: UnkeyedEncodingContainer, PlainEncoding {
  let text: EncodedText
  let depth: Int
  let id: Int
  let start: Int

  var codingPath: [any CodingKey] { text.path(to: start).map(PathKey.init) }

  var count: Int {
    depth < text.levels.count && text.levels[depth].id == id ? text.levels[depth].count : 0
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    let (text, depth, start, id) = open(.object)
    return KeyedEncodingContainer(
      KeyedEncoding<Nested>(text: text, depth: depth, id: id, start: start, isPayload: false))
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    let (text, depth, start, id) = open(.array)
    return SequenceEncoding(text: text, depth: depth, id: id, start: start)
  }

  mutating func superEncoder() -> any Encoder {
    let (text, depth, start, _) = open(.promise)
    return TextEncoder(text: text, depth: depth + 1, start: start)
  }

  /// Prepares the text for the next element; returns false if the whole value has to be written
  /// again.
  private func isReady() -> Bool {
    guard text.enter(depth: depth, id: id) else { return false }
    // The comma is written here and not with the element, so that the element starts after it.
    text.writer.separate()
    text.writer.needsComma = false
    return true
  }

  func enter() throws(JSONError) {
    guard isReady() else {
      throw JSONError(.value, "a container was used after its value was complete")
    }
  }

  private func open(
    _ kind: EncodedText.Level.Kind
  ) -> (text: EncodedText, depth: Int, start: Int, id: Int) {
    guard isReady() else { return EncodedText.discarded(kind) }
    return text.openNested(kind)
  }
}

// MARK: - The widest integers

// Implemented in the type, because the standard library has default implementations of these
// methods, which would compete with those of `PlainEncoding`.
extension SequenceEncoding {
  mutating func encode(_ value: Int128) throws {
    try enter()
    value.write(to: &text.writer)
  }

  mutating func encode(_ value: UInt128) throws {
    try enter()
    value.write(to: &text.writer)
  }
}
