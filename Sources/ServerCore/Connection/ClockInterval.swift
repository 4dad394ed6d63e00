// SPDX-License-Identifier: Apache-2.0

/// The number of messages between two reads of the clock, adapted to about one millisecond of work.
///
/// Most messages take little more time than a read of the clock.
struct ClockInterval {
  private var interval: UInt8 = 1
  private var left: UInt8 = 1

  /// Counts a message.
  ///
  /// - Returns: True if the clock is to be read now.
  mutating func isDue() -> Bool {
    left &-= 1
    guard left == 0 else { return false }
    left = interval
    return true
  }

  /// Adapts the interval to the time of the messages since the last read of the clock.
  mutating func adapt(to time: Duration) {
    if time > Self.longTime {
      interval = 1
    } else if time > Self.usualTime {
      interval = max(interval / 2, 1)
    } else if time + time < Self.usualTime {
      interval = min(interval * 2, Self.maximumInterval)
    }
    left = interval
  }

  private static let usualTime = Duration.milliseconds(1)
  private static let longTime = Duration.milliseconds(4)
  private static let maximumInterval: UInt8 = 16
}
