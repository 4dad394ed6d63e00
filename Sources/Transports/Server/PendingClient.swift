// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// A client without a connection object: it is in a TLS handshake, or it uses HTTP.
protocol PendingClient: AnyObject {
  /// The time at which the client connected, or at which it was last sent a response or still read
  /// one.
  var since: ContinuousClock.Instant { get }

  /// Closes the channel if the client takes too long.
  func sweep(_ now: ContinuousClock.Instant)

  /// The channel; nil after it has closed.
  var channel: (any Channel)? { get }

  /// False while the server does not read the client's bytes.
  var isRead: Bool { get }

  /// True while a part of a response was not sent.
  var hasUnsentResponse: Bool { get }

  /// Closes the channel after the response that is being sent.
  func finish()

  /// Closes the channel immediately.
  func abandon()
}

extension PendingClient {
  /// True if bytes of the client have arrived and are read soon.
  var isArriving: Bool { isRead && channel?.hasUnreadBytes == true }
}
