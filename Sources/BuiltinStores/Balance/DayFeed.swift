// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
internal import StateMachines

/// Reports when the date in a zone changes: at midnight, or because the calendar was set.
struct DayFeed: Sendable {
  static let id: EffectID = "day"

  let zone: TimeZoneRule

  /// A feed of the changes of the date since a time; one at a time in each store.
  ///
  /// - Parameter action: Makes the action to send, given the time now.
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
  }

  /// How long to sleep at a time since 1970-01-01T00:00:00Z; always positive.
  ///
  /// - Parameter interval: The longest sleep, because the calendar may be set; nil if it cannot.
  func sleep(at time: Duration, checkingEvery interval: Duration?) -> Duration {
    let longest = interval ?? .seconds(CivilTime.secondsPerDay)
    let wait = .seconds(zone.nextDay(after: Timestamp(sinceEpoch: time))) - time
    // No day begins after the last year of the calendar.
    return wait > .zero ? min(wait, longest) : longest
  }
}
