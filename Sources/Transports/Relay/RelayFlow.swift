// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The bytes between a connection and a channel on another loop, for the back-pressure of the
/// connection. Both loops use it.
final class RelayFlow: Sendable {
  private let underway = Atomic(0)
  private let channelBytes = Atomic(0)

  // The high-water mark of channels.
  private static let maximumUnderway = 16 << 10

  /// Adds bytes that the connection has written.
  func sent(_ count: Int) { underway.add(count, ordering: .relaxed) }

  /// Records that the channel has bytes, and the number that it holds because the client does not
  /// read; 0 if it is writable.
  func arrived(_ count: Int, held: Int) {
    channelBytes.store(held, ordering: .relaxed)
    underway.subtract(count, ordering: .relaxed)
  }

  /// True while more bytes would only wait.
  var isCongested: Bool {
    channelBytes.load(ordering: .relaxed) > 0
      || underway.load(ordering: .relaxed) > Self.maximumUnderway
  }

  /// The number of bytes that wait for the client, while they do.
  var waitingBytes: Int {
    isCongested
      ? channelBytes.load(ordering: .relaxed) + underway.load(ordering: .relaxed) : 0
  }
}
