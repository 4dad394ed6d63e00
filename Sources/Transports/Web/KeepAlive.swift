// SPDX-License-Identifier: Apache-2.0

/// Whether the peer at a WebSocket is still there.
struct KeepAlive {
  private var silentSince: ContinuousClock.Instant
  private var isPinged = false

  init(since: ContinuousClock.Instant) { silentSince = since }

  /// What to do about a peer.
  enum Action {
    case nothing
    case ping
    /// It is gone.
    case close
  }

  /// Looks again.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - hasSpoken: Whether anything has come since the last look, or could not have: what is not read
  ///     is not heard.
  ///   - limit: How long it may be silent before it is pinged, and again before it is closed.
  mutating func look(
    _ now: ContinuousClock.Instant, hasSpoken: Bool, _ limit: Duration
  ) -> Action {
    if hasSpoken {
      silentSince = now
      isPinged = false
      return .nothing
    }
    let silence = silentSince.duration(to: now)
    guard silence >= limit else { return .nothing }
    guard isPinged else {
      // However late the look is, there is time for an answer.
      silentSince = now - limit
      isPinged = true
      return .ping
    }
    return silence >= limit * 2 ? .close : .nothing
  }
}
