// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The text of one field of a form, which may be a password.
///
/// Only `text` and its JSON contain the entry: no description, reflection or decoding error does.
/// Two entries are equal if their UTF-8 bytes are equal, as everywhere on the wire. The form's
/// rules determine whether two entries count as the same for users.
///
/// - Shape: a string, at most 64 KiB of UTF-8. A longer string is a decoding error.
public struct FormEntry: Sendable {
  /// The greatest length of an entry.
  ///
  /// - Units: UTF-8 bytes.
  public static let maximumBytes = 65_536

  /// The entry, unchanged.
  public let text: String

  /// Creates an empty entry.
  public init() { text = "" }

  /// Creates an entry.
  ///
  /// - Throws: `FormEntry.TooLong` if the text has more than `maximumBytes`.
  public init(_ text: String) throws(TooLong) {
    guard text.utf8.count <= Self.maximumBytes else { throw TooLong() }
    self.text = text
  }

  /// The error for a text with more bytes than an entry may have.
  public struct TooLong: Error, Equatable, CustomStringConvertible {
    /// The message for readers.
    public var description: String { "an entry has at most \(FormEntry.maximumBytes) bytes" }
  }
}

extension FormEntry: Equatable {
  /// Returns true if both have the same UTF-8 bytes.
  public static func == (one: FormEntry, other: FormEntry) -> Bool {
    one.text.hasSameBytes(as: other.text)
  }
}

extension FormEntry: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The same text for every entry, so that it shows neither the entry nor its length.
  public var description: String { "(entry)" }
  /// The same text as `description`.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension FormEntry: Codable, JSONReadable, JSONWritable {
  /// Decodes the value from JSON; the type documents its shape.
  ///
  /// - Throws: `DecodingError` or `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do throws(TooLong) {
      try self.init(text)
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
    }
  }

  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    let text = try reader.readString()
    do throws(TooLong) {
      try self.init(text)
    } catch {
      throw reader.error(.value, error.description, at: start)
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

extension FormEntry: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(maximumBytes: maximumBytes)
  }
}
