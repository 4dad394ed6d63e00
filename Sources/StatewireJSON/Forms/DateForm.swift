// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// A date is a string by ISO 8601 in UTC: `2026-11-26T10:50:19.25Z`.
//
// The number that `Date` itself encodes, seconds since 2001, is not read: a client that sends the
// seconds since 1970, as most languages count them, would silently mean another date.

extension Date: StandardEncoding, StandardDecoding, JSONDescribed {
  func encodeForm(to encoder: TextEncoder) throws {
    guard let text = DateForm.text(timeIntervalSinceReferenceDate) else {
      throw encoder.invalid("a date outside of the years 0 to 9999 cannot be represented in JSON")
    }
    try encoder.encode(text)
  }

  static func decodeForm(from decoder: TextDecoder) throws -> Date {
    let text = try decoder.string()
    guard let interval = DateForm.interval(text) else {
      throw decoder.invalid(
        "\(text.quoted()) is not a date by ISO 8601 with time and offset, such as"
          + " 2026-11-26T10:50:19Z")
    }
    return Date(timeIntervalSinceReferenceDate: interval)
  }

  static var isDescribedByName: Bool { false }
  static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(format: "date-time", example: "2001-01-01T00:00:00Z")
  }
}

/// Converts between seconds since 2001 and ISO 8601.
///
/// - Source: RFC 3339 §5.6, the profile of ISO 8601 of the format `date-time` of JSON Schema.
enum DateForm {
  private static let secondsPerDay = 86_400
  /// The days from 0000-03-01, where the years of the algorithms below begin, to 2001-01-01.
  private static let daysToReference = 730_791
  private static let powers: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

  /// Returns the text of a date; nil outside of the years 0 to 9999.
  ///
  /// The fraction has the fewest digits, at most 9, with which the same number is read again.
  ///
  /// - Parameter interval: Seconds since 2001.
  static func text(_ interval: Double) -> String? {
    // The bounds are checked exactly below; these keep the conversion to `Int` from trapping.
    guard interval.isFinite, abs(interval) < 1e12 else { return nil }
    var whole = Int(interval.rounded(.down))
    let fraction = interval - interval.rounded(.down)
    var (numerator, digits) = (0.0, 0)
    while true {
      numerator = (fraction * powers[digits]).rounded()
      if Double(whole) + numerator / powers[digits] == interval || digits == 9 { break }
      digits += 1
    }
    if numerator == powers[digits] { (whole, numerator, digits) = (whole + 1, 0, 0) }
    let days = (Double(whole) / Double(secondsPerDay)).rounded(.down)
    let second = whole - Int(days) * secondsPerDay
    guard let date = calendarDate(Int(days)) else { return nil }
    var text = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
    text += "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
    if digits > 0 { text += ".\(padded(Int(numerator), digits))" }
    return text + "Z"
  }

  /// Returns the seconds since 2001 of a text; nil if it is not a date with time and offset.
  static func interval(_ text: String) -> Double? {
    var rest = text.utf8[...]
    guard let year = number(&rest, 4), skip(&rest, "-"), let month = number(&rest, 2),
      skip(&rest, "-"), let day = number(&rest, 2), skip(&rest, "Tt "),
      let hour = number(&rest, 2), skip(&rest, ":"), let minute = number(&rest, 2),
      skip(&rest, ":"), let second = number(&rest, 2), hour < 24, minute < 60, second <= 60,
      let days = daysSinceReference(year, month, day)
    else { return nil }
    var (numerator, denominator) = (0.0, 1.0)
    if skip(&rest, ".,") {
      let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
      guard count > 0 else { return nil }
      // Eighteen digits are more than a `Double` has.
      for byte in rest.prefix(min(count, 18)) {
        numerator = numerator * 10 + Double(byte - UInt8(ascii: "0"))
        denominator *= 10
      }
      rest = rest.dropFirst(count)
    }
    guard let offset = offset(&rest), rest.isEmpty else { return nil }
    let whole = days * secondsPerDay + hour * 3600 + minute * 60 + second - offset
    return Double(whole) + numerator / denominator
  }

  /// Reads `Z` or an offset such as `+01:30`, `+0130` or `+01`; returns it in seconds.
  private static func offset(_ rest: inout Substring.UTF8View) -> Int? {
    if skip(&rest, "Zz") { return 0 }
    guard let sign = rest.first, skip(&rest, "+-"), let hours = number(&rest, 2) else { return nil }
    var minutes = 0
    if skip(&rest, ":") || !rest.isEmpty {
      guard let read = number(&rest, 2) else { return nil }
      minutes = read
    }
    guard hours < 24, minutes < 60 else { return nil }
    return (hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
  }

  private static func number(_ rest: inout Substring.UTF8View, _ count: Int) -> Int? {
    var value = 0
    for _ in 0..<count {
      guard let byte = rest.popFirst(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return value
  }

  private static func skip(_ rest: inout Substring.UTF8View, _ allowed: String) -> Bool {
    guard let first = rest.first, allowed.utf8.contains(first) else { return false }
    rest.removeFirst()
    return true
  }

  private static func padded(_ number: Int, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }
}

// MARK: - The Gregorian calendar

// Years are counted from March, so that the day that a leap year adds is the last one of a year.
//
// - Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil` and
//   `civil_from_days`.
extension DateForm {
  /// Returns the days from 2001-01-01 to a date; nil if there is no such date.
  private static func daysSinceReference(_ year: Int, _ month: Int, _ day: Int) -> Int? {
    guard (1...12).contains(month), day >= 1 else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    guard day <= length else { return nil }
    // One cycle of 400 years is added, because the year before 0000-03-01 is negative.
    let shifted = (month > 2 ? year : year - 1) + 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear
    return days - 146_097 - daysToReference
  }

  /// Returns the date so many days after 2001-01-01; nil outside of the years 0 to 9999.
  private static func calendarDate(_ days: Int) -> (year: Int, month: Int, day: Int)? {
    let shifted = days + daysToReference + 146_097
    guard shifted >= 0 else { return nil }
    let (cycle, dayOfCycle) = shifted.quotientAndRemainder(dividingBy: 146_097)
    let yearOfCycle =
      (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let year = yearOfCycle + (cycle - 1) * 400 + (month < 10 ? 0 : 1)
    guard (0...9999).contains(year) else { return nil }
    return (year, month < 10 ? month + 3 : month - 9, day)
  }
}
