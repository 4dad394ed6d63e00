// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// An exact decimal number, for money, which binary fractions cannot represent exactly.
///
/// Equal numbers have one representation and one text: `1.50`, `15e-1` and `1.5` are all "1.5", and
/// there is no negative zero.
///
/// - Shape: a JSON string that contains a number by RFC 8259 §6, `"-1234.5"`; written without an
///   exponent.
public struct DecimalNumber: Hashable, Sendable {
  /// The most digits of a number that is read, written without an exponent; a sum may have more.
  public static let maximumDigits = 200

  /// The number 0.
  public static let zero = DecimalNumber(isNegative: false, digits: [], exponent: 0)

  /// True if the number is less than 0.
  public let isNegative: Bool
  /// The digits, highest first, each 0 to 9; neither the first nor the last digit is 0; empty for
  /// zero. The value is the digits × 10^exponent.
  let digits: [UInt8]
  let exponent: Int

  /// Creates a number.
  ///
  /// - Parameter digits: The digits, highest first; zeros at either end are removed.
  init(isNegative: Bool, digits: some Collection<UInt8>, exponent: Int) {
    var digits = Array(digits.drop { $0 == 0 })
    var exponent = exponent
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    self.digits = digits
    self.exponent = digits.isEmpty ? 0 : exponent
    self.isNegative = isNegative && !digits.isEmpty
  }
}

// MARK: - Text

extension DecimalNumber {
  /// Parses a number: an optional minus, digits, an optional fraction, an optional exponent.
  ///
  /// - Returns: Nil for any other text ("+1", ".5", "1,0", "NaN", " 1", "") and for a number with
  ///   more than `maximumDigits`, either as given or written without an exponent.
  public init?(_ text: some StringProtocol) {
    guard let spelled = SpelledNumber(text) else { return nil }
    self.init(isNegative: spelled.isNegative, digits: spelled.digits, exponent: spelled.exponent)
    guard digitCount <= Self.maximumDigits else { return nil }
  }

  /// The number of digits when the number is written without an exponent.
  public var digitCount: Int { max(integerCount, 1) + fractionCount }

  /// The number of digits before the decimal point; 0 or negative for a number below 1.
  private var integerCount: Int { digits.count + exponent }
  /// The number of digits after the decimal point.
  private var fractionCount: Int { max(-exponent, 0) }

  /// The digits before the decimal point in ASCII, at least one.
  public var integerDigits: String {
    guard integerCount > 0 else { return "0" }
    return Self.text(digits.prefix(integerCount)) + Self.zeros(max(exponent, 0))
  }

  /// The digits after the decimal point in ASCII; empty for an integer.
  public var fractionDigits: String {
    guard fractionCount > 0 else { return "" }
    return Self.zeros(fractionCount - digits.count) + Self.text(digits.suffix(fractionCount))
  }

  private static func text(_ digits: some Sequence<UInt8>) -> String {
    String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
  }

  private static func zeros(_ count: Int) -> String { String(repeating: "0", count: max(count, 0)) }
}

extension DecimalNumber: CustomStringConvertible {
  /// The number without an exponent: "-1234.5", "0", "0.001".
  public var description: String {
    let fraction = fractionDigits
    return (isNegative ? "-" : "") + integerDigits + (fraction.isEmpty ? "" : "." + fraction)
  }
}

// MARK: - Arithmetic

extension DecimalNumber: AdditiveArithmetic, Comparable {
  /// Returns the exact sum.
  public static func + (one: DecimalNumber, other: DecimalNumber) -> DecimalNumber {
    let lowest = min(one.exponent, other.exponent)
    let (first, second) = (one.digits(downTo: lowest), other.digits(downTo: lowest))
    if one.isNegative == other.isNegative {
      return DecimalNumber(
        isNegative: one.isNegative, digits: Digits.sum(first, second), exponent: lowest)
    }
    let (large, small, isNegative) =
      Digits.isLess(first, second)
      ? (second, first, other.isNegative) : (first, second, one.isNegative)
    return DecimalNumber(
      isNegative: isNegative, digits: Digits.difference(large, small), exponent: lowest)
  }

  /// Returns the number with the opposite sign.
  public static prefix func - (number: DecimalNumber) -> DecimalNumber {
    DecimalNumber(
      isNegative: !number.isNegative, digits: number.digits, exponent: number.exponent)
  }

  /// Returns the exact difference.
  public static func - (one: DecimalNumber, other: DecimalNumber) -> DecimalNumber { one + -other }

  /// Returns true if the first number is less than the second.
  public static func < (one: DecimalNumber, other: DecimalNumber) -> Bool {
    guard one.isNegative == other.isNegative else { return one.isNegative }
    let lowest = min(one.exponent, other.exponent)
    let (first, second) = (one.digits(downTo: lowest), other.digits(downTo: lowest))
    return one.isNegative ? Digits.isLess(second, first) : Digits.isLess(first, second)
  }

  /// Returns the nearest number with this many digits after the decimal point; of two equally near
  /// numbers, the one whose last digit is even.
  ///
  /// - Precondition: `places` is not negative.
  public func rounded(toPlaces places: Int) -> DecimalNumber {
    precondition(places >= 0, "places must not be negative")
    let dropped = -exponent - places
    guard dropped > 0 else { return self }
    // The value is less than a tenth of the last kept place.
    guard dropped <= digits.count else { return .zero }
    let kept = digits.dropLast(dropped)
    let rest = digits.suffix(dropped)
    let isOdd = kept.last.map { !$0.isMultiple(of: 2) } ?? false
    // The last digit is not 0, so a 5 followed by other digits is more than half.
    let isUp =
      rest[rest.startIndex] > 5 || rest[rest.startIndex] == 5 && (rest.count > 1 || isOdd)
    return DecimalNumber(
      isNegative: isNegative, digits: isUp ? Digits.sum(Array(kept), [1]) : Array(kept),
      exponent: -places)
  }

  /// Returns the digits as a whole number of 10^exponent; `exponent` is at most the number's own
  /// exponent.
  private func digits(downTo exponent: Int) -> [UInt8] {
    digits.isEmpty ? [] : digits + repeatElement(0, count: self.exponent - exponent)
  }
}

// MARK: - JSON

extension DecimalNumber: Codable, JSONReadable, JSONWritable {
  private static var unusable: String { "expected a decimal number in a string" }

  /// Decodes the value from JSON; the type documents its shape.
  ///
  /// - Throws: `DecodingError` or `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let number = DecimalNumber(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.unusable)
    }
    self = number
  }

  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    guard let number = DecimalNumber(try reader.readString()) else {
      throw reader.error(.value, Self.unusable, at: start)
    }
    self = number
  }

  /// Encodes the value as JSON; the type documents its shape.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) { writer.value(description) }
}

extension DecimalNumber: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(
      pattern: #"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"#, example: "-1234.5")
  }
}
