// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// An id that a client chooses for a todo that it adds, so that it can refer to the todo before the
/// response.
///
/// - Shape: a string of 1 to 64 UTF-8 bytes. Ids are compared by their bytes.
public struct TodoID: Hashable, Sendable {
  /// The greatest length of an id.
  ///
  /// - Units: UTF-8 bytes.
  public static let maximumBytes = 64

  /// The id.
  public let text: String

  /// Creates an id.
  ///
  /// - Throws: `TodoID.Unusable` if the text is empty or too long.
  public init(_ text: String) throws(Unusable) {
    guard (1...Self.maximumBytes).contains(text.utf8.count) else { throw Unusable() }
    self.text = text
  }

  /// The error for a text that is empty or has more than `maximumBytes`.
  public struct Unusable: Error {
    static let message = "an id has 1 to 64 bytes"
  }

  /// Returns true if both have the same UTF-8 bytes.
  public static func == (a: TodoID, b: TodoID) -> Bool { a.text.hasSameBytes(as: b.text) }

  /// Hashes the UTF-8 bytes.
  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

extension TodoID: Codable, JSONReadable, JSONWritable {
  /// Decodes the value from JSON; the type documents its shape.
  ///
  /// - Throws: `DecodingError` or `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(container.decode(String.self))
    } catch is Unusable {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: Unusable.message)
    }
  }

  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.position
    let text = try reader.readString()
    do throws(Unusable) {
      try self.init(text)
    } catch {
      throw reader.error(.value, Unusable.message, at: start)
    }
  }

  /// Encodes the value as JSON; the type documents its shape.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) { writer.value(text) }
}

extension TodoID: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(maximumBytes: maximumBytes, minimumLength: 1)
  }
}
