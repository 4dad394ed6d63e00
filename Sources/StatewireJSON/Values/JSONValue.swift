// SPDX-License-Identifier: Apache-2.0

/// Any JSON value as a tree.
///
/// Two values are equal if they are the same data: numbers by value, strings by their UTF-8 bytes,
/// objects regardless of the order of their members.
public enum JSONValue: Sendable {
  /// The value `null`.
  case null
  /// The value `true` or `false`.
  case bool(Bool)
  /// A number of any size and precision.
  case number(JSONNumber)
  /// A string.
  case string(String)
  /// The elements of an array.
  case array([JSONValue])
  /// The members of an object.
  case object(JSONObject)
}

// MARK: - Text

extension JSONValue {
  /// Reads a text that contains one JSON value.
  ///
  /// - Throws: `JSONError` with the offset and path of the fault.
  public init(parsing bytes: [UInt8], limits: JSONLimits = .init()) throws(JSONError) {
    self = try bytes.withRawBytes { bytes throws(JSONError) in
      try JSONValue(parsing: bytes, limits: limits)
    }
  }

  /// Reads a text that contains one JSON value.
  ///
  /// - Throws: `JSONError` with the offset and path of the fault.
  public init(
    parsing bytes: UnsafeRawBufferPointer, limits: JSONLimits = .init()
  ) throws(JSONError) {
    var reader = JSONReader(bytes, limits: limits)
    self = try reader.readValue()
    try reader.finish()
  }

  /// Reads a text that contains one JSON value.
  ///
  /// - Throws: `JSONError` with the offset and path of the fault.
  public init(parsing text: String, limits: JSONLimits = .init()) throws(JSONError) {
    self = try text.utf8Span.span.withUnsafeBytes { bytes throws(JSONError) in
      try JSONValue(parsing: bytes, limits: limits)
    }
  }

  /// The value as compact JSON text.
  public var bytes: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes()
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as compact JSON text.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}

// MARK: - Access

extension JSONValue {
  /// The member with a key; nil if there is none or this is not an object.
  public subscript(key: String) -> JSONValue? {
    if case .object(let object) = self { object[key] } else { nil }
  }

  /// The element at an index; nil if there is none or this is not an array.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// True if this is null.
  public var isNull: Bool { if case .null = self { true } else { false } }

  /// The value if it is `true` or `false`; otherwise nil.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The value if it is a number; otherwise nil.
  public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }

  /// The value if it is an integer that fits `Int`; otherwise nil.
  public var int: Int? { number?.int }

  /// The nearest `Double` if it is a number; otherwise nil.
  public var double: Double? { number?.double }

  /// The text if it is a string; otherwise nil.
  public var string: String? { if case .string(let value) = self { value } else { nil } }

  /// The elements if it is an array; otherwise nil.
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

  /// The members if it is an object; otherwise nil.
  public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
}

// MARK: - Equality

extension JSONValue: Equatable {
  /// Returns true if both are the same data.
  public static func == (one: JSONValue, other: JSONValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.number(let one), .number(let other)): one == other
    case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)): one == other
    default: false
    }
  }
}

// MARK: - Literals

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Creates null.
  public init(nilLiteral: ()) { self = .null }
  /// Creates true or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Creates an integer.
  public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
  /// Creates a number.
  ///
  /// - Precondition: The literal is a finite `Double`.
  public init(floatLiteral value: Double) { self = .number(JSONNumber(floatLiteral: value)) }
  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates an array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Creates an object; the last value of several members with the same key counts.
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(JSONObject(members))
  }
}
