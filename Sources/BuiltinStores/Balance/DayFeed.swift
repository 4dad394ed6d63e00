// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireProtocol

/// Tells when another day begins in a zone.
struct DayFeed: Sendable {
  /// No sleep is longer, so that a clock that is set meanwhile is noticed within that time.
  static let longestSleep = Duration.seconds(3600)

  let zone: TimeZoneRule

  /// A feed of the days that begin after a time; one at a time in each store.
  ///
  /// - Parameter action: What to send, given the time now.
  func effect<Action>(
    from start: Timestamp, _ action: @escaping @Sendable (Timestamp) -> Action
  ) -> Effect<Action> {
    .feed("day") { context in
      var day = zone.day(at: start)
      while true {
        let time = context.clock.sinceEpoch
        let now = Timestamp(sinceEpoch: time)
        if zone.day(at: now) != day {
          day = zone.day(at: now)
          await context.send(action(now))
        }
        do { try await context.sleep(for: sleep(at: time)) } catch { return }
      }
    }
  }

  /// How long to sleep at a time since 1970-01-01T00:00:00Z; never zero or less.
  func sleep(at time: Duration) -> Duration {
    let wait = .seconds(zone.nextDay(after: Timestamp(sinceEpoch: time))) - time
    // Beyond the calendar's years no day begins any more.
    return wait > .zero ? min(wait, Self.longestSleep) : Self.longestSleep
  }
}
