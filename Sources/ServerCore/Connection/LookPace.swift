// SPDX-License-Identifier: Apache-2.0

/// How many messages are carried out between two looks at the clock: about a millisecond of them.
///
/// Nearly all messages take not much longer than a look.
struct LookPace {
  private var interval: UInt8 = 1
  private var left: UInt8 = 1

  /// Counts a message.
  ///
  /// - Returns: True if the clock is to be looked at.
  mutating func isDue() -> Bool {
    left &-= 1
    guard left == 0 else { return false }
    left = interval
    return true
  }

  /// The messages since the last look have taken some time.
  mutating func adapt(to time: Duration) {
    if time > Self.muchTime {
      interval = 1
    } else if time > Self.usualTime {
      interval = max(interval / 2, 1)
    } else if time + time < Self.usualTime {
      interval = min(interval * 2, Self.maximumInterval)
    }
    left = interval
  }

  private static let usualTime = Duration.milliseconds(1)
  private static let muchTime = Duration.milliseconds(4)
  private static let maximumInterval: UInt8 = 16
}
