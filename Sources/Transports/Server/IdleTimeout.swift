// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// How long a peer has said nothing that counts.
struct IdleTimeout {
  private(set) var since: ContinuousClock.Instant
  private var lastMessages: UInt32 = 0
  private var hasBegun = false

  init(since: ContinuousClock.Instant) { self.since = since }

  /// Looks again.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - messages: How many whole messages have come so far.
  ///   - isKnown: Whether the peer may use the server.
  ///   - isBusy: Whether something that it has asked for is being worked on, or waits for it.
  ///   - limits: How long it may be silent.
  /// - Returns: The limit that it has gone beyond.
  mutating func look(
    _ now: ContinuousClock.Instant, messages: UInt32, isKnown: Bool, isBusy: Bool,
    _ limits: ServerLimits
  ) -> Refusal? {
    let hasSpoken = messages != lastMessages
    lastMessages = messages
    guard hasBegun else {
      if hasSpoken, isKnown {
        hasBegun = true
        since = now
        return nil
      }
      return isOver(limits.timeToFirstRequest, now) ? .timeToFirstRequest : nil
    }
    if hasSpoken || isBusy { since = now }
    return isOver(limits.idleTime, now) ? .idleTime : nil
  }

  private func isOver(_ limit: Duration?, _ now: ContinuousClock.Instant) -> Bool {
    limit.map { since.duration(to: now) >= $0 } ?? false
  }
}
