// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

extension Channel {
  /// Keeps the socket from programs that this process starts: a peer hears of an end only when nobody
  /// holds the socket any more, and SwiftNIO lets them inherit it.
  ///
  /// To be called on the channel's event loop. A program that another thread starts right before
  /// inherits it nevertheless.
  func closeOnExec() {
    // A channel that is closed already has nothing to be inherited.
    _ = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      fcntl($0, F_SETFD, FD_CLOEXEC)
    }
  }
}

/// Another descriptor of the same, which programs that this process starts do not inherit.
func duplicate(_ descriptor: CInt) throws(StartupError) -> CInt {
  let other = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
  guard other >= 0 else {
    throw StartupError(
      "descriptor \(descriptor) could not be duplicated: \(systemMessage(errno))")
  }
  return other
}
