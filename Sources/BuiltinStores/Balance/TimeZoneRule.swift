// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

/// How the clocks on the walls of one place go: their offset from UTC at any time.
///
/// Zones with names ("Europe/Berlin") need a database; whoever has one hands in the rule.
public struct TimeZoneRule: Sendable {
  private let secondsFromUTC: @Sendable (Timestamp) -> Int

  /// - Parameter secondsFromUTC: The offset at a time, in seconds, positive east of Greenwich; the
  ///   same for the same time. At most a day is believed.
  public init(secondsFromUTC: @escaping @Sendable (Timestamp) -> Int) {
    self.secondsFromUTC = secondsFromUTC
  }

  /// Coordinated Universal Time.
  public static let utc = TimeZoneRule { _ in 0 }

  /// The zone with an offset that never changes: "UTC", or hours and minutes like "+02:00" and
  /// "-03:30"; nil for any other text.
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
  /// What the clocks on the walls show.
  func civilTime(at time: Timestamp) -> CivilTime {
    CivilTime(seconds: wallSeconds(at: time.secondsSinceEpoch))
  }

  /// The number of the day in the calendars on the walls; one day's is one more than the day's
  /// before.
  func day(at time: Timestamp) -> Int { day(at: time.secondsSinceEpoch) }

  /// The first second with another date than the one of a time: midnight, or when clocks are put
  /// across it.
  ///
  /// - Units: seconds since 1970-01-01T00:00:00Z.
  func nextDay(after time: Timestamp) -> Int {
    let day = day(at: time.secondsSinceEpoch)
    var start = time.secondsSinceEpoch
    // Clocks that are put many times a day are none of this world; they get some next second.
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

  /// The second at which the offset stops being what it is at `start`; by `end` it has.
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
