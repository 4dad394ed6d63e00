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
  /// Sets `FD_CLOEXEC` on the socket, so that programs that this process starts do not inherit it.
  ///
  /// SwiftNIO lets child processes inherit sockets, and a client is notified of the end of a
  /// connection only when no process has the socket open. A program that another thread starts
  /// immediately before this call still inherits the socket.
  ///
  /// - Precondition: The caller runs on the channel's event loop.
  public func closeOnExec() {
    // A closed channel has no socket, so the error is ignored.
    _ = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      fcntl($0, F_SETFD, FD_CLOEXEC)
    }
  }
}
