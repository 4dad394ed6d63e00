// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// Which user is at the other end of a Unix socket.
///
/// The permissions of the file say who may connect, but they can be changed, and a folder that is
/// shared can be given other files.
enum UnixClient {
  /// Whether a process of some user may be served here: one of ours, or of root.
  static func mayConnect(user: uid_t, to owner: uid_t = geteuid()) -> Bool {
    user == owner || user == 0
  }

  /// The user whose process has connected.
  ///
  /// - Source: unix(7), SO_PEERCRED: what it was when `connect` was called.
  static func user(of channel: any Channel) -> EventLoopFuture<uid_t> {
    guard let provider = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    let credentials: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
    return credentials.map(\.user)
  }

  /// - Source: `struct ucred` of unix(7), which the C library shows to GNU programs alone.
  private struct Credentials: Sendable {
    let process: pid_t
    let user: uid_t
    let group: gid_t
  }
}
