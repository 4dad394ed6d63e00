// SPDX-License-Identifier: Apache-2.0

/// A container of values without keys: one value, or several in order.
///
/// The standard library requires the same methods for both. They differ only in how a value begins.
protocol PlainEncoding {
  var text: EncodedText { get }

  /// Prepares the text for the next value.
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
