// SPDX-License-Identifier: Apache-2.0

/// The members of a range.
private enum RangeKey: String, CodingKey { case lowerBound, upperBound }

/// The members of a range that has the bounds that a decoder provides.
private struct Bounds<Bound: Decodable> {
  private let decoder: TextDecoder
  private let container: KeyedDecodingContainer<RangeKey>

  init(_ decoder: TextDecoder) throws {
    self.decoder = decoder
    container = try decoder.container(keyedBy: RangeKey.self)
  }

  func bound(_ key: RangeKey) throws -> Bound { try container.decode(Bound.self, forKey: key) }

  /// Returns both bounds.
  ///
  /// - Throws: `value` if they are in the wrong order.
  func both() throws -> (Bound, Bound) where Bound: Comparable {
    let (lower, upper) = (try bound(.lowerBound), try bound(.upperBound))
    guard lower <= upper else {
      throw decoder.invalid("the lower bound of the range is above its upper bound")
    }
    return (lower, upper)
  }
}

extension TextEncoder {
  fileprivate func encode<Bound: Encodable>(lower: Bound? = nil, upper: Bound? = nil) throws {
    var container = container(keyedBy: RangeKey.self)
    if let lower { try container.encode(lower, forKey: .lowerBound) }
    if let upper { try container.encode(upper, forKey: .upperBound) }
  }
}

extension TextDecoder {
  /// True if the value is the array of bounds that ranges themselves encode.
  fileprivate var isArray: Bool { firstByte == UInt8(ascii: "[") }
}

extension JSONSchemas {
  fileprivate func range(of bound: Any.Type, _ keys: RangeKey...) throws -> JSONSchema {
    let bound = try schema(of: bound)
    return .object(keys.map { .member($0.rawValue, bound) })
  }
}

// MARK: - Ranges with both bounds

extension Range: StandardEncoding where Bound: Encodable {
  func encodeForm(to encoder: TextEncoder) throws {
    try encoder.encode(lower: lowerBound, upper: upperBound)
  }
}

extension Range: StandardDecoding where Bound: Decodable {
  static func decodeForm(from decoder: TextDecoder) throws -> Range {
    if decoder.isArray { return try Range(from: decoder) }
    return Range(uncheckedBounds: try Bounds(decoder).both())
  }
}

extension Range: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of an object with both bounds.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.range(of: Bound.self, .lowerBound, .upperBound)
  }
}

extension ClosedRange: StandardEncoding where Bound: Encodable {
  func encodeForm(to encoder: TextEncoder) throws {
    try encoder.encode(lower: lowerBound, upper: upperBound)
  }
}

extension ClosedRange: StandardDecoding where Bound: Decodable {
  static func decodeForm(from decoder: TextDecoder) throws -> ClosedRange {
    if decoder.isArray { return try ClosedRange(from: decoder) }
    return ClosedRange(uncheckedBounds: try Bounds(decoder).both())
  }
}

extension ClosedRange: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of an object with both bounds.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.range(of: Bound.self, .lowerBound, .upperBound)
  }
}

// MARK: - Ranges with one bound

extension PartialRangeFrom: StandardEncoding where Bound: Encodable {
  func encodeForm(to encoder: TextEncoder) throws { try encoder.encode(lower: lowerBound) }
}

extension PartialRangeFrom: StandardDecoding where Bound: Decodable {
  static func decodeForm(from decoder: TextDecoder) throws -> PartialRangeFrom {
    if decoder.isArray { return try PartialRangeFrom(from: decoder) }
    return PartialRangeFrom(try Bounds(decoder).bound(.lowerBound))
  }
}

extension PartialRangeFrom: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of an object with the lower bound.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.range(of: Bound.self, .lowerBound)
  }
}

extension PartialRangeUpTo: StandardEncoding where Bound: Encodable {
  func encodeForm(to encoder: TextEncoder) throws { try encoder.encode(upper: upperBound) }
}

extension PartialRangeUpTo: StandardDecoding where Bound: Decodable {
  static func decodeForm(from decoder: TextDecoder) throws -> PartialRangeUpTo {
    if decoder.isArray { return try PartialRangeUpTo(from: decoder) }
    return PartialRangeUpTo(try Bounds(decoder).bound(.upperBound))
  }
}

extension PartialRangeUpTo: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of an object with the upper bound.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.range(of: Bound.self, .upperBound)
  }
}

extension PartialRangeThrough: StandardEncoding where Bound: Encodable {
  func encodeForm(to encoder: TextEncoder) throws { try encoder.encode(upper: upperBound) }
}

extension PartialRangeThrough: StandardDecoding where Bound: Decodable {
  static func decodeForm(from decoder: TextDecoder) throws -> PartialRangeThrough {
    if decoder.isArray { return try PartialRangeThrough(from: decoder) }
    return PartialRangeThrough(try Bounds(decoder).bound(.upperBound))
  }
}

extension PartialRangeThrough: JSONDescribed {
  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of an object with the upper bound.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.range(of: Bound.self, .upperBound)
  }
}
