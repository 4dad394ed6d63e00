// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A decimal number, exactly: for money, which no binary fraction can hold.
///
/// Equal numbers have one form and one text: `1.50`, `15e-1` and `1.5` are all "1.5", and there is
/// no negative zero.
///
/// - Shape: a JSON string with a number by RFC 8259 §6, `"-1234.5"`; written without an exponent.
public struct DecimalNumber: Hashable, Sendable {
  /// How many digits a number may have when it is written without an exponent; a sum may have more.
  public static let maximumDigits = 200

  public static let zero = DecimalNumber(isNegative: false, digits: [], exponent: 0)

  /// False for zero.
  public let isNegative: Bool
  /// The value is the digits × 10^exponent. Highest first, 0 to 9, neither the first nor the last
  /// is 0; empty for zero.
  let digits: [UInt8]
  let exponent: Int

  /// - Parameter digits: Highest first; zeros at either end are taken off.
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
  /// The number that a text is: a minus or none, digits, a fraction or none, an exponent or none.
  ///
  /// Nil for anything else ("+1", ".5", "1,0", "NaN", " 1", "") and for a number with more than
  /// `maximumDigits`, written out or as given.
  public init?(_ text: some StringProtocol) {
    guard let spelled = SpelledNumber(text) else { return nil }
    self.init(isNegative: spelled.isNegative, digits: spelled.digits, exponent: spelled.exponent)
    guard digitCount <= Self.maximumDigits else { return nil }
  }

  /// How many digits the number has when it is written without an exponent.
  public var digitCount: Int { max(integerCount, 1) + fractionCount }

  /// How many digits stand before the point; none or less for a number below 1.
  private var integerCount: Int { digits.count + exponent }
  /// How many digits stand behind the point.
  private var fractionCount: Int { max(-exponent, 0) }

  /// The digits before the point, at least one, in ASCII.
  public var integerDigits: String {
    guard integerCount > 0 else { return "0" }
    return Self.text(digits.prefix(integerCount)) + Self.zeros(max(exponent, 0))
  }

  /// The digits behind the point, in ASCII; empty for an integer.
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
  /// The exact sum.
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

  public static prefix func - (number: DecimalNumber) -> DecimalNumber {
    DecimalNumber(
      isNegative: !number.isNegative, digits: number.digits, exponent: number.exponent)
  }

  /// The exact difference.
  public static func - (one: DecimalNumber, other: DecimalNumber) -> DecimalNumber { one + -other }

  public static func < (one: DecimalNumber, other: DecimalNumber) -> Bool {
    guard one.isNegative == other.isNegative else { return one.isNegative }
    let lowest = min(one.exponent, other.exponent)
    let (first, second) = (one.digits(downTo: lowest), other.digits(downTo: lowest))
    return one.isNegative ? Digits.isLess(second, first) : Digits.isLess(first, second)
  }

  /// The nearest number with so many digits behind the point; of two that are equally near, the one
  /// whose last digit is even.
  ///
  /// - Precondition: `places` is not negative.
  public func rounded(toPlaces places: Int) -> DecimalNumber {
    precondition(places >= 0, "there are no fewer than no places")
    let dropped = -exponent - places
    guard dropped > 0 else { return self }
    // All that is dropped stands far behind the first place that stays.
    guard dropped <= digits.count else { return .zero }
    let kept = digits.dropLast(dropped)
    let rest = digits.suffix(dropped)
    let isOdd = kept.last.map { !$0.isMultiple(of: 2) } ?? false
    // The last digit is not 0, so more than a lone 5 is more than half.
    let isUp =
      rest[rest.startIndex] > 5 || rest[rest.startIndex] == 5 && (rest.count > 1 || isOdd)
    return DecimalNumber(
      isNegative: isNegative, digits: isUp ? Digits.sum(Array(kept), [1]) : Array(kept),
      exponent: -places)
  }

  /// The digits as a whole number of 10^exponent; `exponent` is at most the number's own.
  private func digits(downTo exponent: Int) -> [UInt8] {
    digits.isEmpty ? [] : digits + repeatElement(0, count: self.exponent - exponent)
  }
}

// MARK: - JSON

extension DecimalNumber: Codable, JSONReadable, JSONWritable {
  private static var unusable: String { "expected a decimal number in a string" }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let number = DecimalNumber(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.unusable)
    }
    self = number
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    guard let number = DecimalNumber(try reader.readString()) else {
      throw reader.error(.value, Self.unusable, at: start)
    }
    self = number
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  public func write(to writer: inout JSONWriter) { writer.value(description) }
}

extension DecimalNumber: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(
      pattern: #"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"#, example: "-1234.5")
  }
}
