// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

extension Channel {
  /// True if the system has bytes of the client that were not read.
  ///
  /// - Precondition: The caller runs on the channel's event loop.
  var hasUnreadBytes: Bool {
    var count: CInt = 0
    // A closed channel has no socket, so the error is ignored.
    _ = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      ioctl($0, UInt(FIONREAD), &count)
    }
    return count > 0
  }
}
