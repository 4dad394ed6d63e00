// SPDX-License-Identifier: Apache-2.0

/// JSON text from and to types that are `Codable`.
///
/// What is different from Foundation's coders:
///
/// - Enums with payloads are flat: `{"type": "todoAdded", "title": "Milk"}`, where Swift synthesizes
///   `{"todoAdded": {"title": "Milk"}}`. A payload's own field `type` is written as `_type` (and
///   `_type` as `__type`, and so on), since the name is taken.
/// - An absent optional is written as `null`; on reading, absent and `null` are the same.
/// - Types that are `JSONReadable` or `JSONWritable` read and write themselves.
/// - Every error is a `JSONError` with its path, errors that a type throws itself included.
public enum JSON {}

// MARK: - Decoding

extension JSON {
  /// Reads a value of a type from a text that holds nothing else.
  public static func decode<T: Decodable>(
    _ type: T.Type, from bytes: UnsafeRawBufferPointer, limits: JSONLimits = .init()
  ) throws(JSONError) -> T {
    try DecodedText.decode(type, from: bytes, limits: limits)
  }

  /// Reads a value of a type from a text that holds nothing else.
  public static func decode<T: Decodable>(
    _ type: T.Type, from bytes: [UInt8], limits: JSONLimits = .init()
  ) throws(JSONError) -> T {
    try bytes.withRawBytes { bytes throws(JSONError) in
      try DecodedText.decode(type, from: bytes, limits: limits)
    }
  }

  /// Reads a value of a type from a tree.
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
      // The text is ours, so its offsets mean nothing to the caller.
      throw JSONError(error.code, error.message, path: error.path)
    }
  }
}

extension JSON {
  /// Reads a value of a type that stands next in a longer text; the paths of errors start where the
  /// text does.
  public static func decode<T: Decodable>(
    _ type: T.Type, reading reader: inout JSONReader
  ) throws(JSONError) -> T {
    try DecodedText.decode(type, reading: &reader)
  }
}

// MARK: - Encoding

extension JSON {
  /// The text of a value.
  ///
  /// - Throws: `number` for a `Double` that is not finite; whatever the type throws, as `JSONError`.
  public static func encode<T: Encodable>(_ value: T) throws(JSONError) -> [UInt8] {
    var writer = JSONWriter()
    try write(value, to: &writer)
    return writer.bytes()
  }

  /// Writes the text of a value, after a comma where one is due; nothing, if that fails.
  public static func write<T: Encodable>(
    _ value: T, to writer: inout JSONWriter
  ) throws(JSONError) {
    try EncodedText.write(value, to: &writer)
  }

  /// A value as a tree.
  public static func value<T: Encodable>(_ value: T) throws(JSONError) -> JSONValue {
    if let value = value as? JSONValue { return value }
    var writer = JSONWriter()
    try write(value, to: &writer)
    return try writer.withBytes { bytes throws(JSONError) in
      try JSONValue(parsing: bytes, limits: JSONLimits(maximumDepth: .max))
    }
  }
}
