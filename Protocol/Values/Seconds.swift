// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A duration on the wire: a JSON number of seconds, read from its decimal text.
///
/// `0.1` is exactly 100,000,000 nanoseconds. A fraction of a nanosecond is rounded to the nearest
/// nanosecond, halves away from 0.
///
/// - Shape: a number, 0 to 1,000,000,000.
/// - Units: seconds on the wire, nanoseconds of precision.
public struct Seconds: Hashable, Sendable {
  /// The longest duration, about 31 years, so that sums of durations do not overflow.
  ///
  /// - Units: seconds.
  public static let maximum = 1_000_000_000

  /// The duration.
  ///
  /// - Units: nanoseconds.
  private let nanoseconds: UInt64

  /// Converts a duration: rounds it down to nanoseconds and clamps it to 0 to `maximum`.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    if seconds >= Self.maximum {
      nanoseconds = Self.maximumNanoseconds
    } else if seconds < 0 || attoseconds < 0 {
      nanoseconds = 0
    } else {
      nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
  }

  /// The duration as a standard `Duration`.
  public var duration: Duration { .nanoseconds(Int64(nanoseconds)) }

  /// Parses the text of a number.
  ///
  /// - Precondition: `text` is a number by RFC 8259 §6.
  /// - Returns: Nil if it is negative or too large.
  private init?(number text: some Sequence<UInt8>) {
    guard let nanoseconds = DecimalSeconds(text)?.nanoseconds,
      nanoseconds <= Self.maximumNanoseconds
    else { return nil }
    self.nanoseconds = nanoseconds
  }

  private static let maximumNanoseconds = UInt64(maximum) * 1_000_000_000
  private static let refusal = "seconds must be 0 to 1000000000"
}

extension Seconds: Codable, JSONReadable, JSONWritable {
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    let number = try reader.readNumber()
    guard let seconds = Seconds(number: "\(number)".utf8) else {
      throw reader.error(.value, Self.refusal, at: start)
    }
    self = seconds
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) { writer.verbatim(Array(description.utf8)) }

  /// Decodes a number of seconds with a decoder of another module, whose numbers have been
  /// converted to `Double`.
  ///
  /// - Throws: `DecodingError` if it is negative or greater than `maximum`.
  public init(from decoder: any Decoder) throws {
    let number = try JSONNumber(from: decoder)
    guard let seconds = Seconds(number: "\(number)".utf8) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: Self.refusal))
    }
    self = seconds
  }

  /// Encodes the value as JSON; the type documents its shape.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Double(nanoseconds) / 1_000_000_000)
  }
}

extension Seconds: CustomStringConvertible {
  /// The number of seconds as plain decimal text.
  public var description: String {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    guard rest > 0 else { return "\(seconds)" }
    let digits = String(rest)
    var fraction = String(repeating: "0", count: 9 - digits.utf8.count) + digits
    while fraction.last == "0" { fraction.removeLast() }
    return "\(seconds).\(fraction)"
  }
}

/// The parsed text of a number that is not negative.
private struct DecimalSeconds {
  /// The digits, starting with the first one that is not 0.
  private var digits: [UInt8] = []
  /// The number of digits before the decimal point of the value in nanoseconds; may be negative, or
  /// greater than the number of digits.
  private var places = 9

  /// Parses the text of a number.
  ///
  /// - Returns: Nil for a negative number; -0 is not negative.
  init?(_ text: some Sequence<UInt8>) {
    var isNegative = false
    var isBehindPoint = false
    var exponent: (digits: Int, isNegative: Bool)?
    for byte in text {
      switch byte {
      case UInt8(ascii: "-") where exponent == nil: isNegative = true
      case UInt8(ascii: "-"): exponent?.isNegative = true
      case UInt8(ascii: "."): isBehindPoint = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"): exponent = (0, false)
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let digit = byte - UInt8(ascii: "0")
        if let read = exponent?.digits {
          // No number of digits that fits into memory compensates for an exponent of this size.
          exponent?.digits = min(read * 10 + Int(digit), 1 << 50)
        } else {
          if !digits.isEmpty || digit > 0 {
            digits.append(digit)
            if !isBehindPoint { places += 1 }
          } else if isBehindPoint {
            places -= 1
          }
        }
      default: break
      }
    }
    if let exponent { places += exponent.isNegative ? -exponent.digits : exponent.digits }
    if isNegative, !digits.isEmpty { return nil }
  }

  /// The number of nanoseconds; nil if it has more digits than the longest duration.
  var nanoseconds: UInt64? {
    if digits.isEmpty || places < 0 { return 0 }
    guard places <= 19 else { return nil }
    var whole: UInt64 = 0
    for place in 0..<places {
      whole = whole * 10 + UInt64(place < digits.count ? digits[place] : 0)
    }
    let next = places < digits.count ? digits[places] : 0
    return next >= 5 ? whole + 1 : whole
  }
}

extension Seconds: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .number(minimum: 0, maximum: maximum)
  }
}
