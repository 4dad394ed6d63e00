// SPDX-License-Identifier: Apache-2.0

/// How long a peer has read nothing of what waits for it.
struct UnreadTimeout {
  private var since: ContinuousClock.Instant
  private var lastWaitingBytes = 0

  init(since: ContinuousClock.Instant) { self.since = since }

  /// Looks again.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - waitingBytes: How many bytes wait for it, in the channel and in the kernel, which takes more of
  ///     them once it has got rid of a large part; they become fewer when it reads, since nothing is
  ///     added meanwhile.
  ///   - limit: How long it may read nothing.
  /// - Returns: Whether it has gone beyond that.
  mutating func look(
    _ now: ContinuousClock.Instant, waitingBytes: Int, _ limit: Duration?
  ) -> Bool {
    if waitingBytes == 0 || waitingBytes != lastWaitingBytes {
      lastWaitingBytes = waitingBytes
      since = now
      return false
    }
    return limit.map { since.duration(to: now) >= $0 } ?? false
  }
}
