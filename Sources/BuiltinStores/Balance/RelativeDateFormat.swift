// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

/// The format of a time in texts that people read some time later.
public struct RelativeDateFormat: Sendable {
  private let text: @Sendable (Timestamp, Timestamp, TimeZoneRule) -> String

  /// Creates a format.
  ///
  /// - Parameter text: Returns the text for a time, given the current time and the time zone of the
  ///   readers. It is called again when the date in that zone changes.
  public init(
    _ text:
      @escaping @Sendable (_ time: Timestamp, _ now: Timestamp, _ zone: TimeZoneRule) ->
      String
  ) {
    self.text = text
  }

  func text(for time: Timestamp, now: Timestamp, in zone: TimeZoneRule) -> String {
    text(time, now, zone)
  }

  /// The English format: "Today, 11:01:48 AM", "Yesterday, 11:01:48 AM", or else
  /// "6/2/21, 11:01:48 AM".
  ///
  /// - Source: Foundation's `DateFormatter` for en_US, relative, with a short date and a medium
  ///   time, but with a plain space before AM and PM.
  public static let english = RelativeDateFormat { time, now, zone in
    let civil = zone.civilTime(at: time)
    let day =
      switch zone.day(at: now) - zone.day(at: time) {
      case 0: "Today"
      case 1: "Yesterday"
      default: "\(civil.month)/\(civil.day)/" + FixedForm.text("dd", civil.year)
      }
    let hour = (civil.hour + 11) % 12 + 1
    let rest = FixedForm.text(
      civil.hour < 12 ? ":dd:dd AM" : ":dd:dd PM", civil.minute, civil.second)
    return String(parts: day, ", ", String(hour), rest)
  }
}
