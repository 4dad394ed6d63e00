// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import NIOCore

extension Channel {
  /// Keeps the socket from programs that this process starts: a peer hears of an end only when nobody
  /// holds the socket any more, and SwiftNIO lets them inherit it.
  ///
  /// To be called on the channel's event loop. A program that another thread starts right before
  /// inherits it nevertheless.
  public func closeOnExec() {
    // A channel that is closed already has nothing to be inherited.
    _ = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      fcntl($0, F_SETFD, FD_CLOEXEC)
    }
  }
}
