// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

/// The offset of a place from UTC at any time.
///
/// Named zones ("Europe/Berlin") need a time zone database; a program that has one passes its rule.
public struct TimeZoneRule: Sendable {
  private let secondsFromUTC: @Sendable (Timestamp) -> Int

  /// Creates a rule.
  ///
  /// - Parameter secondsFromUTC: Returns the offset at a time in seconds, positive east of
  ///   Greenwich. It must always return the same offset for the same time. Offsets are limited to
  ///   one day.
  public init(secondsFromUTC: @escaping @Sendable (Timestamp) -> Int) {
    self.secondsFromUTC = secondsFromUTC
  }

  /// Coordinated Universal Time.
  public static let utc = TimeZoneRule { _ in 0 }

  /// Creates the zone with a constant offset: "UTC", or hours and minutes such as "+02:00" and
  /// "-03:30". Returns nil for any other text.
  public init?(fixed text: String) {
    if text.utf8.elementsEqual("UTC".utf8) {
      self = .utc
      return
    }
    guard let digits = FixedForm.digits(of: Array(text.utf8), as: "sdd:dd") else { return nil }
    let (hours, minutes) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
    guard hours < 24, minutes < 60 else { return nil }
    let sign = text.utf8.first == UInt8(ascii: "-") ? -1 : 1
    self.init { _ in sign * (hours * 3600 + minutes * 60) }
  }
}

extension TimeZoneRule {
  /// Returns the civil time at a time.
  func civilTime(at time: Timestamp) -> CivilTime {
    CivilTime(seconds: wallSeconds(at: time.secondsSinceEpoch))
  }

  /// Returns the number of the date at a time; consecutive dates have consecutive numbers.
  func day(at time: Timestamp) -> Int { day(at: time.secondsSinceEpoch) }

  /// Returns the first second after a time that has another date: midnight, or a change of the
  /// offset across midnight.
  ///
  /// - Returns: Seconds since 1970-01-01T00:00:00Z.
  func nextDay(after time: Timestamp) -> Int {
    let day = day(at: time.secondsSinceEpoch)
    var start = time.secondsSinceEpoch
    // Real zones do not change their offset many times a day. For a rule that does, the result is
    // some later second.
    for _ in 0..<8 {
      let offset = offset(at: start)
      let midnight = (CivilTime.day(ofSeconds: start + offset) + 1) * CivilTime.secondsPerDay
      let end = midnight - offset
      guard self.offset(at: end) != offset else { return end }
      start = change(from: offset, after: start, notAfter: end)
      if self.day(at: start) != day { return start }
    }
    return start
  }

  /// Returns the first second after `start` at which the offset differs from `offset`; at most
  /// `end`.
  private func change(from offset: Int, after start: Int, notAfter end: Int) -> Int {
    var (last, first) = (start, end)
    while first - last > 1 {
      let middle = last + (first - last) / 2
      if self.offset(at: middle) == offset { last = middle } else { first = middle }
    }
    return first
  }

  private func day(at seconds: Int) -> Int { CivilTime.day(ofSeconds: wallSeconds(at: seconds)) }

  private func wallSeconds(at seconds: Int) -> Int { seconds + offset(at: seconds) }

  private func offset(at seconds: Int) -> Int {
    let day = CivilTime.secondsPerDay
    return min(max(secondsFromUTC(Timestamp(secondsSinceEpoch: seconds)), -day), day)
  }
}
