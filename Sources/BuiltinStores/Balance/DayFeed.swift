// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
internal import StateMachines

/// A feed that reports when the date in a time zone changes: at midnight, or because the calendar
/// was set.
struct DayFeed: Sendable {
  static let id: EffectID = "day"

  let zone: TimeZoneRule

  /// Returns the feed of date changes after a time. A store has at most one such feed.
  ///
  /// - Parameters:
  ///   - start: The time of the last known date.
  ///   - action: Makes the action for a change, given the current time.
  func effect<Action>(
    from start: Timestamp, _ action: @escaping @Sendable (Timestamp) -> Action
  ) -> Effect<Action> {
    .feed(Self.id) { context in
      var day = zone.day(at: start)
      while true {
        let time = context.clock.sinceEpoch
        let now = Timestamp(sinceEpoch: time)
        if zone.day(at: now) != day {
          day = zone.day(at: now)
          await context.send(action(now))
        }
        let wait = sleep(at: time, checkingEvery: context.clock.calendarCheckInterval)
        do { try await context.sleep(for: wait) } catch { return }
      }
    }
    .unlessRunning()
  }

  /// Returns the next sleep; always positive.
  ///
  /// - Parameters:
  ///   - time: The current time since 1970-01-01T00:00:00Z.
  ///   - interval: The longest sleep, because the calendar may be set; nil if it cannot be set.
  func sleep(at time: Duration, checkingEvery interval: Duration?) -> Duration {
    let longest = interval ?? .seconds(CivilTime.secondsPerDay)
    let wait = .seconds(zone.nextDay(after: Timestamp(sinceEpoch: time))) - time
    // No day begins after the last year of the calendar.
    return wait > .zero ? min(wait, longest) : longest
  }
}
