// SPDX-License-Identifier: Apache-2.0

/// A type that reads itself from JSON text, for types that are read often.
///
/// `JSON.decode` and the decoder prefer this over `Decodable`, also for nested values.
public protocol JSONReadable {
  /// Reads exactly one value.
  ///
  /// - Throws: `JSONError` if the next value is not a value of the type.
  init(reading reader: inout JSONReader) throws(JSONError)
}

extension JSONReader {
  /// Reads one value of a type that reads itself.
  ///
  /// - Throws: `JSONError` if the next value is not a value of the type.
  @inlinable
  public mutating func read<T: JSONReadable>(_ type: T.Type = T.self) throws(JSONError) -> T {
    try T(reading: &self)
  }

  /// Reads one value of a type that reads itself, or nil for `null`.
  ///
  /// - Throws: `JSONError` if the next value is neither.
  @inlinable
  public mutating func readIfPresent<T: JSONReadable>(
    _ type: T.Type = T.self
  ) throws(JSONError) -> T? {
    try readNullIfPresent() ? nil : T(reading: &self)
  }
}

extension Bool: JSONReadable {
  /// Reads `true` or `false`.
  ///
  /// - Throws: `type` for another value.
  @inlinable
  public init(reading reader: inout JSONReader) throws(JSONError) { self = try reader.readBool() }
}

extension String: JSONReadable {
  /// Reads a string.
  ///
  /// - Throws: `type` for another value.
  @inlinable
  public init(reading reader: inout JSONReader) throws(JSONError) { self = try reader.readString() }
}

extension Double: JSONReadable {
  /// Reads the nearest `Double`.
  ///
  /// - Throws: `type` for another value, `number` if the number is too large.
  public init(reading reader: inout JSONReader) throws(JSONError) { self = try reader.readDouble() }
}

extension Float: JSONReadable {
  /// Reads the nearest `Float`.
  ///
  /// - Throws: `type` for another value, `number` if the number is too large.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    let value = Float(try reader.readDouble())
    guard value.isFinite else {
      throw reader.error(.number, "the number is too large for a Float", at: start)
    }
    self = value
  }
}

extension JSONReader {
  /// Skips white space and returns the offset at which the next value starts.
  public mutating func nextValueOffset() -> Int {
    skipSpace()
    return at
  }
}

extension FixedWidthInteger where Self: JSONReadable {
  /// Reads an integer; `1.0` and `1e2` are integers too.
  ///
  /// - Throws: `type` for another value, `number` if the number is not an integer or does not fit.
  @inlinable
  public init(reading reader: inout JSONReader) throws(JSONError) {
    self = try reader.readInteger()
  }
}

extension Int: JSONReadable {}
extension Int8: JSONReadable {}
extension Int16: JSONReadable {}
extension Int32: JSONReadable {}
extension Int64: JSONReadable {}
extension UInt: JSONReadable {}
extension UInt8: JSONReadable {}
extension UInt16: JSONReadable {}
extension UInt32: JSONReadable {}
extension UInt64: JSONReadable {}

extension JSONValue: JSONReadable {
  /// Reads any value as a tree.
  public init(reading reader: inout JSONReader) throws(JSONError) { self = try reader.readValue() }
}

extension JSONObject: JSONReadable {
  /// Reads an object as a tree.
  ///
  /// - Throws: `type` for another value.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    guard try reader.peek() == .object, case .object(let object) = try reader.readValue() else {
      throw reader.unexpected(.object)
    }
    self = object
  }
}

extension JSONNumber: JSONReadable {
  /// Reads a number of any size and precision.
  ///
  /// - Throws: `type` for another value.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    self = try reader.readNumber()
  }
}
