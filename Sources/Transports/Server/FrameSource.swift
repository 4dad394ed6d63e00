// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// A reader that splits the bytes of a connection into frames, such as a WebSocket handler.
protocol FrameSource: AnyObject {
  /// Calls `body` with the frames that have arrived, in order. They are valid only during the call.
  func forEachFrame(_ body: (FrameEvent) -> Void)

  /// Memory of a frame that has begun and not ended, in bytes.
  var partialBytes: Int { get }

  /// Skips the rest of that frame.
  func skipFrame()
}
