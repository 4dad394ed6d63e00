// SPDX-License-Identifier: Apache-2.0

/// One value that is neither keyed nor a sequence.
struct SingleEncoding: SingleValueEncodingContainer {
  let encoder: TextEncoder
  private var text: EncodedText { encoder.text }

  init(encoder: TextEncoder) { self.encoder = encoder }

  var codingPath: [any CodingKey] { encoder.codingPath }

  /// Makes sure that this is the one value to be written.
  private func enter() throws(JSONError) {
    guard text.writer.count == encoder.start else { throw encoder.twice }
  }

  mutating func encodeNil() throws {
    try enter()
    text.writer.null()
  }

  mutating func encode<T: Encodable>(_ value: T) throws {
    try enter()
    try text.encode(value)
  }

  mutating func encode(_ value: Bool) throws {
    try enter()
    text.writer.value(value)
  }

  mutating func encode(_ value: String) throws {
    try enter()
    text.writer.value(value)
  }

  mutating func encode(_ value: Double) throws {
    try enter()
    try text.check(value)
    text.writer.value(value)
  }

  mutating func encode(_ value: Float) throws {
    try enter()
    try text.check(value)
    text.writer.value(value)
  }

  mutating func encode(_ value: Int) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: Int8) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: Int16) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: Int32) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: Int64) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: Int128) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt8) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt16) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt32) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt64) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt128) throws {
    try enter()
    text.writer.integer(value)
  }
}
