// SPDX-License-Identifier: Apache-2.0

public import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension Channel {
  /// True if the system has bytes of the peer that were not read.
  ///
  /// - Precondition: The caller runs on the channel's event loop.
  public var hasUnreadBytes: Bool {
    var count: CInt = 0
    // A closed channel has no socket, so the error is ignored.
    _ = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      ioctl($0, UInt(FIONREAD), &count)
    }
    return count > 0
  }
}
