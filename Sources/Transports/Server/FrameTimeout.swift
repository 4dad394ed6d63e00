// SPDX-License-Identifier: Apache-2.0

/// How long a frame of a peer has begun without getting whole.
///
/// What has come of it is kept, so that thousands of peers could let the server keep the beginnings of
/// as many large frames.
struct FrameTimeout {
  private var since: ContinuousClock.Instant?
  private var lastMessages: UInt32 = 0

  /// Looks again.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - messages: How many whole messages have come so far.
  ///   - isOpen: Whether the peer could end a frame that has begun.
  ///   - limit: How long it may take.
  /// - Returns: Whether it has gone beyond that.
  mutating func look(
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
