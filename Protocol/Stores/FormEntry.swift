// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What stands in one field of a form. It may be a password.
///
/// So nothing shows it but `text` and its JSON: no description, no reflection, no error of decoding
/// has it. Two entries are equal if their UTF-8 bytes are, as everywhere on the wire; whether people
/// would take them for the same is for the form's rules.
///
/// - Shape: a string, at most 64 KiB of UTF-8. A longer one is an error of decoding.
public struct FormEntry: Sendable {
  /// - Units: UTF-8 bytes.
  public static let maximumBytes = 65_536

  /// The entry as it was given.
  public let text: String

  /// An empty entry.
  public init() { text = "" }

  /// - Throws: `FormEntry.TooLong`.
  public init(_ text: String) throws(TooLong) {
    guard text.utf8.count <= Self.maximumBytes else { throw TooLong() }
    self.text = text
  }

  /// A text has more bytes than an entry may have.
  public struct TooLong: Error, Equatable, CustomStringConvertible {
    public var description: String { "an entry has at most \(FormEntry.maximumBytes) bytes" }
  }
}

extension JSONError.Code {
  /// An entry is longer than this server takes, though not longer than an entry may be.
  public static let fieldBytes = JSONError.Code(limit: "fieldBytes")
}

extension FormEntry: Equatable {
  public static func == (one: FormEntry, other: FormEntry) -> Bool {
    one.text.utf8.count == other.text.utf8.count && one.text.utf8.elementsEqual(other.text.utf8)
  }
}

extension FormEntry: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The same for every entry, its length included.
  public var description: String { "(entry)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension FormEntry: Codable, JSONReadable, JSONWritable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do throws(TooLong) {
      try self.init(text)
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
    }
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    let text = try reader.readString()
    do throws(TooLong) {
      try self.init(text)
    } catch {
      throw reader.error(.value, error.description, at: start)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  public func write(to writer: inout JSONWriter) { writer.value(text) }
}

extension FormEntry: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(maximumBytes: maximumBytes)
  }
}
