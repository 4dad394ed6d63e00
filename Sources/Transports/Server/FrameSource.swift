// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// What has told frames apart for a connection, such as a WebSocket.
protocol FrameSource: AnyObject {
  /// Hands out the frames that have come, in order; none is kept.
  func handOut(_ body: (FrameEvent) -> Void)

  /// The memory of a frame that has begun and not ended, in bytes.
  var partialBytes: Int { get }

  /// Skips the rest of that frame.
  func skipFrame()
}
