// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What a loader has loaded: any JSON, kept as its compact text.
///
/// Made from a text, it is brought into the form that a wire wants: no white space, so that it fits
/// into one line; of duplicate keys the last one; lone surrogates as U+FFFD. Numbers keep their
/// text, and none is beyond what a `Double` can hold, since no digest could be made of it.
///
/// Where states are compared a large one stands aside, so that the state has no copy of it.
///
/// - Shape: any JSON value.
public struct LoadedValue: Sendable {
  /// How deep the arrays and objects of a value may nest that comes from outside, so that there is
  /// room for what is put around it on its way to a frontend.
  public static let maximumDepth = 64

  /// How long the text of a value may be that is made of others: each of them may be such a one.
  /// - Units: bytes.
  public static let maximumBytes = 16 << 20

  /// The longest key of an object in a value that comes from outside: a patch repeats the keys on the
  /// way to what it changes.
  /// - Units: bytes of UTF-8.
  public static let maximumKeyBytes = 4_096

  /// The text, as an object: so it can be found as long as something holds it.
  package final class Storage: Sendable {
    package let text: [UInt8]

    fileprivate init(_ text: [UInt8]) { self.text = text }
  }

  package let storage: Storage

  /// The value as compact JSON text; values are equal if it is.
  public var text: [UInt8] { storage.text }

  package init(storage: Storage) { self.storage = storage }

  /// A value from JSON text that holds nothing else.
  /// - Throws: `JSONError` if it is not JSON, nests deeper than `maximumDepth`, or holds a number that
  ///   is too large or a key longer than `maximumKeyBytes`.
  public init(json: [UInt8]) throws(JSONError) {
    let limits = JSONLimits(maximumDepth: Self.maximumDepth)
    try self.init(checking: JSONValue(parsing: json, limits: limits))
  }

  private init(checking value: JSONValue) throws(JSONError) {
    if let fault = value.fault { throw JSONError(fault.code, fault.reason) }
    self.init(value)
  }

  /// A JSON string.
  public init(text: String) { self.init(.string(text)) }

  /// A JSON array of values, in their order.
  /// - Throws: `JSONError` if it nests deeper than `maximumDepth`, or is longer than `maximumBytes`.
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

  /// A value from a tree, whose numbers a `Double` can hold.
  public init(_ value: JSONValue) { storage = Storage(value.bytes) }

  /// The value as a tree.
  public var value: JSONValue {
    do {
      return try JSONValue(parsing: text, limits: JSONLimits(maximumDepth: .max))
    } catch {
      assertionFailure("every initialiser makes JSON: \(error)")
      return .null
    }
  }
}

extension LoadedValue: Hashable {
  public static func == (one: LoadedValue, other: LoadedValue) -> Bool {
    one.storage === other.storage || one.text == other.text
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension LoadedValue: JSONDifferencing {
  public mutating func advance(
    to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    guard let new = new as? LoadedValue else { return false }
    if self != new { patch.writeDifference(from: text, to: new.text) }
    self = new
    return true
  }

  public func place(in writer: inout JSONWriter) {
    if text.count <= Self.smallBytes || !writer.setsPartsAside {
      write(to: &writer)
    } else {
      writer.putAside(self)
    }
  }

  // A part of a state costs more than so many bytes of its text.
  private static var smallBytes: Int { 1024 }

  public var expectedBytes: Int { text.count }
  public var textBytes: Int { text.count }
}

extension LoadedValue: Codable, JSONReadable, JSONWritable {
  public init(from decoder: any Decoder) throws {
    try self.init(checking: JSONValue(from: decoder))
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    let value = try reader.readValue()
    if let fault = value.fault { throw reader.error(fault.code, fault.reason, at: start) }
    self.init(value)
  }

  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

  public func write(to writer: inout JSONWriter) { writer.verbatim(text) }
}

extension LoadedValue: CustomStringConvertible {
  public var description: String { String(decoding: text, as: UTF8.self) }
}

extension JSONValue {
  /// The first thing in it that a loaded value may not hold.
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
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .anything }
}
