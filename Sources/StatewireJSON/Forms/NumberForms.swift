// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Numbers that lose digits where JSON numbers are read as `Double`, as in JavaScript, are strings in
// plain decimal notation. They are read from a JSON number too.

extension Decimal: StandardEncoding, StandardDecoding, JSONDescribed {
  func encodeForm(to encoder: TextEncoder) throws {
    guard isFinite else {
      throw encoder.invalid("a Decimal that is not a number cannot be represented in JSON")
    }
    try encoder.encode(description)
  }

  static func decodeForm(from decoder: TextDecoder) throws -> Decimal {
    // The form that `Decimal` itself encodes: the words of the mantissa.
    if decoder.firstByte == UInt8(ascii: "{") { return try Decimal(from: decoder) }
    let text = try decoder.decimalText()
    // `Decimal` rounds what it cannot hold.
    guard text.isShortNumber, let decimal = Decimal(string: text), decimal.isFinite,
      text.isSameNumber(as: decimal.description)
    else { throw decoder.invalid("a Decimal cannot hold \(text.quoted()) exactly", .number) }
    return decimal
  }

  static var isDescribedByName: Bool { false }
  static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(pattern: #"^-?[0-9]+(\.[0-9]+)?$"#, format: "decimal", example: "0")
  }
}

/// The seconds of a duration as a decimal number: `"1.5"`.
extension Duration: StandardEncoding, StandardDecoding, JSONDescribed {
  func encodeForm(to encoder: TextEncoder) throws {
    let perSecond: UInt128 = 1_000_000_000_000_000_000
    let (seconds, rest) = attoseconds.magnitude.quotientAndRemainder(dividingBy: perSecond)
    var text = (attoseconds < 0 ? "-" : "") + "\(seconds)"
    if rest > 0 {
      var fraction = "\(rest + perSecond)".dropFirst()
      while fraction.last == "0" { fraction.removeLast() }
      text += "." + fraction
    }
    try encoder.encode(text)
  }

  static func decodeForm(from decoder: TextDecoder) throws -> Duration {
    // The form that `Duration` itself encodes: the halves of its attoseconds.
    if decoder.firstByte == UInt8(ascii: "[") { return try Duration(from: decoder) }
    let text = try decoder.decimalText()
    let attoseconds: Int128? = text.withUTF8Bytes { DecimalDigits($0).integer(timesTenTo: 18) }
    guard let attoseconds else {
      throw decoder.invalid(
        "a Duration cannot hold \(text.quoted()) seconds; it has attoseconds", .number)
    }
    return Duration(attoseconds: attoseconds)
  }

  /// False: the schema is written wherever the type is used.
  public static var isDescribedByName: Bool { false }
  /// Returns the schema of a decimal number of seconds, as a string.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(pattern: #"^-?[0-9]+(\.[0-9]{1,18})?$"#, format: "seconds", example: "0")
  }
}

extension String {
  /// True if the number has not so many digits that working with it takes long: a `Decimal` has 39
  /// digits, and an exponent of three.
  fileprivate var isShortNumber: Bool { utf8.count <= 512 }

  /// Returns true if both are the same number.
  ///
  /// - Precondition: Both are numbers by RFC 8259 §6.
  fileprivate func isSameNumber(as other: String) -> Bool {
    withUTF8Bytes { one in
      other.withUTF8Bytes { DecimalDigits(one).isSameNumber(as: DecimalDigits($0)) }
    }
  }
}
