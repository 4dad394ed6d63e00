// SPDX-License-Identifier: Apache-2.0

/// A peer that has no connection yet: it is in a TLS handshake, or asks for files.
protocol PendingClient: AnyObject {
  /// When it came, or has last been sent something that it reads.
  var since: ContinuousClock.Instant { get }

  /// Looks whether it takes too long.
  func sweep(_ now: ContinuousClock.Instant)

  /// Ends it now.
  func abandon()
}
