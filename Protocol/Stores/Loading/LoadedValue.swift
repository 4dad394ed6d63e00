// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A value that a loader has loaded: any JSON, kept as compact text.
///
/// A value is normalized when it is created from text: no white space, so that it fits into one
/// line; the last of duplicate keys; U+FFFD for lone surrogates. Numbers keep their text. A number
/// that is too large for a `Double` is refused, because no digest could be computed for it.
///
/// When states are compared, a large value is kept as a leaf, so that the state contains no copy of
/// it.
///
/// - Shape: any JSON value.
public struct LoadedValue: Sendable {
  /// The greatest nesting depth of arrays and objects in an external value. It leaves space for the
  /// levels that the server puts around it on the way to a frontend.
  public static let maximumDepth = 64

  /// The greatest length of a value that consists of other values; each of them may have this
  /// length too.
  ///
  /// - Units: bytes.
  public static let maximumBytes = 16 << 20

  /// The longest key of an object in an external value, because a patch repeats the keys on the
  /// path to a change.
  ///
  /// - Units: UTF-8 bytes.
  public static let maximumKeyBytes = 4_096

  /// The text as an object, so that it can be shared and found while it is in use.
  package final class Storage: Sendable {
    /// The compact JSON text.
    package let text: [UInt8]

    fileprivate init(_ text: [UInt8]) { self.text = text }
  }

  /// The shared text.
  package let storage: Storage

  /// The value as compact JSON text; values are equal if their texts are equal.
  public var text: [UInt8] { storage.text }

  /// Creates a value that shares a text.
  package init(storage: Storage) { self.storage = storage }

  /// Reads a value from text that contains one JSON value.
  ///
  /// - Throws: `JSONError` if the text is not JSON, nests deeper than `maximumDepth`, or contains a
  ///   number that is too large or a key longer than `maximumKeyBytes`.
  public init(json: [UInt8]) throws(JSONError) {
    let limits = JSONLimits(maximumDepth: Self.maximumDepth)
    try self.init(checking: JSONValue(parsing: json, limits: limits))
  }

  private init(checking value: JSONValue) throws(JSONError) {
    if let fault = value.fault { throw JSONError(fault.code, fault.reason) }
    self.init(value)
  }

  /// Creates a JSON string.
  public init(text: String) { self.init(.string(text)) }

  /// Creates a JSON array of values, in their order.
  ///
  /// - Throws: `JSONError` if it nests deeper than `maximumDepth`, or is longer than
  ///   `maximumBytes`.
  public init(array: [LoadedValue]) throws(JSONError) {
    guard array.reduce(0, { $0 + $1.text.count }) <= Self.maximumBytes else {
      throw JSONError(.value, "a value has at most \(Self.maximumBytes) bytes")
    }
    var writer = JSONWriter()
    writer.beginArray()
    for value in array { writer.verbatim(value.text) }
    writer.endArray()
    storage = Storage(writer.bytes())
    try text.withRawBytes { text throws(JSONError) in
      var reader = JSONReader(text, limits: JSONLimits(maximumDepth: Self.maximumDepth))
      _ = try reader.skipValue()
    }
  }

  /// Creates a value from a tree.
  ///
  /// - Precondition: All its numbers fit into a `Double`.
  public init(_ value: JSONValue) { storage = Storage(value.bytes) }

  /// The value as a tree.
  public var value: JSONValue {
    do {
      return try JSONValue(parsing: text, limits: JSONLimits(maximumDepth: .max))
    } catch {
      assertionFailure("every initializer creates JSON: \(error)")
      return .null
    }
  }
}

extension LoadedValue: Hashable {
  /// Returns true if both have the same text.
  public static func == (one: LoadedValue, other: LoadedValue) -> Bool {
    one.storage === other.storage || one.text == other.text
  }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension LoadedValue: JSONDifferencing {
  /// Updates `self` to a new loaded value and writes the operations that make the same change.
  public mutating func advance(
    to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    guard let new = new as? LoadedValue else { return false }
    if self != new { patch.writeDifference(from: text, to: new.text) }
    self = new
    return true
  }

  /// Keeps a value of more than 1024 bytes as a leaf if the writer collects leaves; otherwise
  /// writes its text.
  public func place(in writer: inout JSONWriter) {
    if text.count <= Self.smallBytes || !writer.collectsLeaves {
      write(to: &writer)
    } else {
      writer.keepLeaf(self)
    }
  }

  // A leaf of a state costs more than this many bytes of text.
  private static var smallBytes: Int { 1024 }

  /// The length of the text, in bytes.
  public var expectedBytes: Int { text.count }
  /// The length of the text, in bytes.
  public var textBytes: Int { text.count }
}

extension LoadedValue: Codable, JSONReadable, JSONWritable {
  /// Decodes the value from JSON; the type documents its shape.
  ///
  /// - Throws: `DecodingError` or `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    try self.init(checking: JSONValue(from: decoder))
  }

  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    let value = try reader.readValue()
    if let fault = value.fault { throw reader.error(fault.code, fault.reason, at: start) }
    self.init(value)
  }

  /// Encodes the value as JSON; the type documents its shape.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) { writer.verbatim(text) }
}

extension LoadedValue: CustomStringConvertible {
  /// The compact JSON text.
  public var description: String { String(decoding: text, as: UTF8.self) }
}

extension JSONValue {
  /// The first fault in the value that a loaded value must not contain; nil if there is none.
  fileprivate var fault: (code: JSONError.Code, reason: String)? {
    switch self {
    case .number(let number):
      return number.double.isFinite ? nil : (.number, "a number is too large for a Double")
    case .array(let elements):
      return elements.lazy.compactMap(\.fault).first
    case .object(let object):
      for (key, value) in object {
        let most = LoadedValue.maximumKeyBytes
        if key.utf8.count > most { return (.value, "a key has at most \(most) bytes") }
        if let fault = value.fault { return fault }
      }
      return nil
    case .null, .bool, .string:
      return nil
    }
  }
}

extension LoadedValue: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .anything }
}
