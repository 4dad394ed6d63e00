// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

/// How a time is told to people who read it some time later.
public struct RelativeDateFormat: Sendable {
  private let text: @Sendable (Timestamp, Timestamp, TimeZoneRule) -> String

  /// - Parameter text: The text for a time, given the time now and the readers' zone. It is made
  ///   anew whenever a day begins in that zone.
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

  /// "Today, 11:01:48 AM", "Yesterday, 11:01:48 AM", else "6/2/21, 11:01:48 AM".
  ///
  /// As Foundation's `DateFormatter` does it for en_US, relative, with a short date and a medium
  /// time, but with a plain space before AM and PM.
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
