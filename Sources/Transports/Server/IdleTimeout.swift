// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// A timeout for a client that sends nothing: until its first authorised request, and between
/// requests.
struct IdleTimeout {
  private(set) var since: ContinuousClock.Instant
  private var lastMessages: UInt32 = 0
  private var hasBegun = false

  init(since: ContinuousClock.Instant) { self.since = since }

  /// Checks the timeout.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - messages: Number of whole messages so far.
  ///   - isAuthorised: True if the client is authorised.
  ///   - isBusy: True while a request is being worked on, or output waits for the client.
  ///   - limits: The limits of both times.
  /// - Returns: The limit that the client has exceeded; nil for none.
  mutating func check(
    _ now: ContinuousClock.Instant, messages: UInt32, isAuthorised: Bool, isBusy: Bool,
    _ limits: ServerLimits
  ) -> Refusal? {
    let hasReceived = messages != lastMessages
    lastMessages = messages
    guard hasBegun else {
      if hasReceived, isAuthorised {
        hasBegun = true
        since = now
        return nil
      }
      return isOver(limits.timeToFirstRequest, now) ? .timeToFirstRequest : nil
    }
    if hasReceived || isBusy { since = now }
    return isOver(limits.idleTime, now) ? .idleTime : nil
  }

  private func isOver(_ limit: Duration?, _ now: ContinuousClock.Instant) -> Bool {
    limit.map { since.duration(to: now) >= $0 } ?? false
  }
}
