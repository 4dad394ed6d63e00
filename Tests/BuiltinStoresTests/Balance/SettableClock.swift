// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import StateMachines
import TestSupport
import Testing

/// A clock whose date can be set independently of elapsed time, as a user or NTP does.
final class SettableClock: StoreClock {
  typealias Instant = ManualClock.Instant

  private let clock = ManualClock(start: BalanceResult.time)
  private let shift = Lock(Duration.zero)

  var now: Instant { clock.now }
  var minimumResolution: Duration { clock.minimumResolution }
  var uptime: Duration { clock.uptime }
  var sinceEpoch: Duration { clock.sinceEpoch + shift.withLock { $0 } }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await clock.sleep(until: deadline, tolerance: tolerance)
  }

  func set(by duration: Duration) { shift.withLock { $0 += duration } }

  func advance(by duration: Duration) { clock.advance(to: clock.now.advanced(by: duration)) }

  /// The time until the first sleeper wakes.
  var nextWait: Duration? { clock.nextDeadline.map { clock.now.duration(to: $0) } }

  func waitForSleeper() async {
    await eventually("a task sleeps on the clock") { clock.sleeperCount > 0 }
  }
}
