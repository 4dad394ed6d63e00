// SPDX-License-Identifier: Apache-2.0

/// A timeout for a client that reads nothing while output waits for it.
struct UnreadTimeout {
  private var since: ContinuousClock.Instant
  private var lastWaitingBytes = 0

  init(since: ContinuousClock.Instant) { self.since = since }

  /// Checks the timeout.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - waitingBytes: Number of bytes that wait for the client in the channel and in the kernel.
  ///     The number falls when the client reads, since nothing is added meanwhile. The kernel alone
  ///     would not show it: it takes more bytes only after a large part was read.
  ///   - limit: The longest time without a read; nil for no limit.
  /// - Returns: True if the client has read nothing for as long as the limit.
  mutating func check(
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
