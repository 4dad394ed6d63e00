// SPDX-License-Identifier: Apache-2.0

/// Converts between JSON text and types that are `Codable`.
///
/// Differences from Foundation's coders:
///
/// - Enums with payloads are flat: `{"type": "todoAdded", "title": "Milk"}`, where Swift
///   synthesizes `{"todoAdded": {"title": "Milk"}}`. A payload's own field `type` is written as
///   `_type` (and `_type` as `__type`, and so on), because the name is reserved for the case.
///   A payload without a label has the members `_0`, `_1` and so on, as Swift names them.
/// - Types of the standard library and of Foundation have the forms of docs/reference/types.md: a
///   date is ISO 8601, `Data` is Base64, a range is an object, and so on.
/// - A dictionary whose keys are coded as strings or integers is an object.
/// - A nil optional is written as `null`. When reading, an absent member and `null` are the same.
/// - Types that are `JSONReadable` or `JSONWritable` read and write themselves.
/// - Every error is a `JSONError` with its path, including errors that a type throws itself.
public enum JSON {}

// MARK: - Decoding

extension JSON {
  /// Reads a value of a type from a text that contains one JSON value.
  ///
  /// - Parameters:
  ///   - type: The type to read.
  ///   - bytes: JSON text in UTF-8.
  ///   - limits: The limits for the text.
  /// - Throws: `JSONError` with the offset and the path of the fault.
  /// - Complexity: O(length of the text).
  public static func decode<T: Decodable>(
    _ type: T.Type, from bytes: UnsafeRawBufferPointer, limits: JSONLimits = .init()
  ) throws(JSONError) -> T {
    try DecodedText.decode(type, from: bytes, limits: limits)
  }

  /// Reads a value of a type from a text that contains one JSON value.
  ///
  /// - Throws: `JSONError` with the offset and the path of the fault.
  /// - Complexity: O(length of the text).
  public static func decode<T: Decodable>(
    _ type: T.Type, from bytes: [UInt8], limits: JSONLimits = .init()
  ) throws(JSONError) -> T {
    try bytes.withRawBytes { bytes throws(JSONError) in
      try DecodedText.decode(type, from: bytes, limits: limits)
    }
  }

  /// Reads a value of a type from a tree.
  ///
  /// - Throws: `JSONError` with the path of the fault and no offset.
  /// - Complexity: O(size of the tree).
  public static func decode<T: Decodable>(
    _ type: T.Type, from value: JSONValue, limits: JSONLimits = .init()
  ) throws(JSONError) -> T {
    var writer = JSONWriter()
    writer.value(value)
    do {
      return try writer.withBytes { bytes throws(JSONError) in
        try DecodedText.decode(type, from: bytes, limits: limits)
      }
    } catch {
      // The caller has not seen this text, so its offsets mean nothing to the caller.
      throw JSONError(error.code, error.message, path: error.path)
    }
  }
}

extension JSON {
  /// Reads the next value of a longer text as a value of a type.
  ///
  /// - Throws: `JSONError`; its offset and path start at the beginning of the longer text.
  public static func decode<T: Decodable>(
    _ type: T.Type, reading reader: inout JSONReader
  ) throws(JSONError) -> T {
    try DecodedText.decode(type, reading: &reader)
  }
}

// MARK: - Encoding

extension JSON {
  /// Returns the JSON text of a value.
  ///
  /// - Throws: `JSONError` with the code `number` for a `Double` or `Float` that is not finite;
  ///   errors that the type throws, converted to `JSONError`.
  /// - Complexity: O(length of the text).
  public static func encode<T: Encodable>(_ value: T) throws(JSONError) -> [UInt8] {
    var writer = JSONWriter()
    try write(value, to: &writer)
    return writer.bytes()
  }

  /// Writes the text of a value, with a comma before it if one is needed.
  ///
  /// - Throws: The errors of `encode`; the writer then has the same contents as before.
  public static func write<T: Encodable>(
    _ value: T, to writer: inout JSONWriter
  ) throws(JSONError) {
    try EncodedText.write(value, to: &writer)
  }

  /// Converts a value to a tree.
  ///
  /// - Throws: The errors of `encode`.
  public static func value<T: Encodable>(_ value: T) throws(JSONError) -> JSONValue {
    if let value = value as? JSONValue { return value }
    var writer = JSONWriter()
    try write(value, to: &writer)
    return try writer.withBytes { bytes throws(JSONError) in
      try JSONValue(parsing: bytes, limits: JSONLimits(maximumDepth: .max))
    }
  }
}
