// SPDX-License-Identifier: Apache-2.0

/// A timeout for a frame that has begun and not ended.
///
/// The server keeps the beginning of a frame. Without a limit, thousands of clients could make it
/// keep as many large ones.
struct FrameTimeout {
  private var since: ContinuousClock.Instant?
  private var lastMessages: UInt32 = 0

  /// Checks the timeout.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - messages: Number of whole messages so far.
  ///   - isOpen: True if a frame has begun and the client could end it.
  ///   - limit: The longest time for a frame; nil for no limit.
  /// - Returns: True if the frame has taken as long as the limit.
  mutating func check(
    _ now: ContinuousClock.Instant, messages: UInt32, isOpen: Bool, _ limit: Duration?
  ) -> Bool {
    guard isOpen else {
      since = nil
      return false
    }
    guard let since, messages == lastMessages else {
      since = now
      lastMessages = messages
      return false
    }
    return limit.map { since.duration(to: now) >= $0 } ?? false
  }
}
