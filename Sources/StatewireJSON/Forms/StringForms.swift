// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension UUID: StandardEncoding, StandardDecoding, JSONDescribed {
  func encodeForm(to encoder: TextEncoder) throws { try encoder.encode(uuidString) }

  static func decodeForm(from decoder: TextDecoder) throws -> UUID {
    let text = try decoder.string()
    guard let uuid = UUID(uuidString: text) else {
      throw decoder.invalid("\(text.quoted()) is not a UUID")
    }
    return uuid
  }

  static var isDescribedByName: Bool { false }
  static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(format: "uuid", example: "00000000-0000-0000-0000-000000000000")
  }
}

extension URL: StandardEncoding, StandardDecoding, JSONDescribed {
  func encodeForm(to encoder: TextEncoder) throws { try encoder.encode(absoluteString) }

  static func decodeForm(from decoder: TextDecoder) throws -> URL {
    // The form that `URL` itself encodes: `relative`, and possibly `base`.
    if decoder.firstByte == UInt8(ascii: "{") { return try URL(from: decoder) }
    let text = try decoder.string()
    guard let url = URL(string: text) else {
      throw decoder.invalid("\(text.quoted()) is not a URL")
    }
    return url
  }

  static var isDescribedByName: Bool { false }
  static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(format: "uri", example: "https://example.com/")
  }
}

extension Data: StandardEncoding, StandardDecoding, JSONDescribed {
  func encodeForm(to encoder: TextEncoder) throws { try encoder.encode(base64EncodedString()) }

  static func decodeForm(from decoder: TextDecoder) throws -> Data {
    // The form that `Data` itself encodes: an array of bytes.
    if decoder.firstByte == UInt8(ascii: "[") { return Data(try [UInt8](from: decoder)) }
    guard let data = Data(base64Encoded: try decoder.string()) else {
      throw decoder.invalid("the string is not Base64")
    }
    return data
  }

  static var isDescribedByName: Bool { false }
  static func schema(in schemas: JSONSchemas) -> JSONSchema {
    var schema = JSONSchema.string()
    schema.keywords["contentEncoding"] = "base64"
    return schema
  }
}

extension Locale: StandardEncoding, StandardDecoding, JSONDescribed {
  func encodeForm(to encoder: TextEncoder) throws { try encoder.encode(identifier) }

  static func decodeForm(from decoder: TextDecoder) throws -> Locale {
    // The form that `Locale` itself encodes.
    if decoder.firstByte == UInt8(ascii: "{") { return try Locale(from: decoder) }
    return Locale(identifier: try decoder.string())
  }

  static var isDescribedByName: Bool { false }
  static func schema(in schemas: JSONSchemas) -> JSONSchema { .string(format: "locale") }
}

extension TimeZone: StandardEncoding, StandardDecoding, JSONDescribed {
  func encodeForm(to encoder: TextEncoder) throws { try encoder.encode(identifier) }

  static func decodeForm(from decoder: TextDecoder) throws -> TimeZone {
    // The form that `TimeZone` itself encodes.
    if decoder.firstByte == UInt8(ascii: "{") { return try TimeZone(from: decoder) }
    let text = try decoder.string()
    guard let zone = TimeZone(identifier: text) else {
      throw decoder.invalid("\(text.quoted()) is not a time zone")
    }
    return zone
  }

  static var isDescribedByName: Bool { false }
  static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(format: "time-zone", example: "GMT")
  }
}

/// The form is that of the `Codable` conformance; its decoding refuses unknown identifiers.
extension Calendar: JSONDescribed {
  static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .object([
      .member("identifier", .string(example: "gregorian")),
      .member("locale", Locale.schema(in: schemas)),
      .member("timeZone", TimeZone.schema(in: schemas)),
      .member("firstWeekday", .integer(minimum: 1, maximum: 7)),
      .member("minimumDaysInFirstWeek", .integer(minimum: 1, maximum: 7)),
      .optional("current", .integer()),
    ])
  }
}
