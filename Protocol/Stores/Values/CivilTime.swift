// SPDX-License-Identifier: Apache-2.0

/// A date of the proleptic Gregorian calendar and a time of day, without a time zone.
package struct CivilTime: Hashable, Sendable {
  /// The number of seconds in a day.
  package static let secondsPerDay = 86_400

  /// The year.
  package var year: Int
  /// The month, from 1.
  package var month: Int
  /// The day of the month, from 1.
  package var day: Int
  /// The hour, 0 to 23.
  package var hour = 0
  /// The minute, 0 to 59.
  package var minute = 0
  /// The second, 0 to 59.
  package var second = 0

  /// Creates the date and time this many seconds after 1970-01-01 00:00:00.
  package init(seconds: Int) {
    let days = Self.day(ofSeconds: seconds)
    let rest = seconds - days * Self.secondsPerDay
    (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)

    // Years begin in March here, so that the leap day is the last day; eras of 400 years begin at a
    // multiple of 400. Source: https://howardhinnant.github.io/date_algorithms.html#civil_from_days
    let shifted = days + 719_468
    let era = Self.floor(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Creates a date and time; nil if it does not exist or the year is not in 0 to 9999.
  package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    guard (0...9999).contains(year), (1...12).contains(month),
      (1...Self.length(ofMonth: month, year: year)).contains(day),
      (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
    (self.hour, self.minute, self.second) = (hour, minute, second)
  }

  /// The number of seconds from 1970-01-01 00:00:00 to this date and time.
  package var seconds: Int {
    // Source: https://howardhinnant.github.io/date_algorithms.html#days_from_civil
    let shifted = month <= 2 ? year - 1 : year
    let era = Self.floor(shifted, 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    return days * Self.secondsPerDay + hour * 3600 + minute * 60 + second
  }

  /// Returns the day number of a time in seconds since 1970-01-01 00:00:00; day 0 is 1970-01-01.
  package static func day(ofSeconds seconds: Int) -> Int { floor(seconds, secondsPerDay) }

  private static func length(ofMonth month: Int, year: Int) -> Int {
    let isLeap = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
    return switch month {
    case 2: isLeap ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Returns the quotient, rounded down.
  private static func floor(_ number: Int, _ divisor: Int) -> Int {
    number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
  }
}
