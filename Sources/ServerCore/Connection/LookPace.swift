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
    let each = max(time / Int(interval), .nanoseconds(1))
    interval = UInt8(min(max(Self.timeBetweenLooks / each, 1), Double(Self.maximumInterval)))
    left = interval
  }

  private static let timeBetweenLooks = Duration.milliseconds(1)
  private static let maximumInterval = 16
}
