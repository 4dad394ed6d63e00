// SPDX-License-Identifier: Apache-2.0

/// A container of values that have no keys: one of them, or one after another.
///
/// What the standard library asks of the two is the same but for how the next value begins.
protocol PlainEncoding {
  var text: EncodedText { get }

  /// Makes the text ready for a value.
  func enter() throws(JSONError)
}

extension PlainEncoding {
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
}
