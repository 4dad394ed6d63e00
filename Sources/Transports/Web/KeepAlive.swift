// SPDX-License-Identifier: Apache-2.0

/// A check whether the client at a WebSocket is still there, by pings.
struct KeepAlive {
  private var silentSince: ContinuousClock.Instant
  private var isPinged = false

  init(since: ContinuousClock.Instant) { silentSince = since }

  /// The next step for a client.
  enum Action {
    case nothing
    case ping
    /// The client is gone.
    case close
  }

  /// Checks the client; called once a second.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - hasReceived: True if bytes have arrived since the last check, or were not read.
  ///   - limit: The time of silence until the ping, and again from the ping until the close.
  mutating func check(
    _ now: ContinuousClock.Instant, hasReceived: Bool, _ limit: Duration
  ) -> Action {
    if hasReceived {
      silentSince = now
      isPinged = false
      return .nothing
    }
    let silence = silentSince.duration(to: now)
    guard silence >= limit else { return .nothing }
    guard isPinged else {
      // The client has the whole time to respond, however late this check is.
      silentSince = now - limit
      isPinged = true
      return .ping
    }
    return silence >= limit * 2 ? .close : .nothing
  }
}
