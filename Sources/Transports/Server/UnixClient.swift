// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// The user of the process at the other end of a Unix socket.
///
/// The permissions of the socket's file limit the users that can connect. But permissions can be
/// changed, and in a shared folder another user can replace files. So the user is checked as well.
enum UnixClient {
  /// Returns true if a process of `user` may connect: the server's user or root.
  static func mayConnect(user: uid_t, to owner: uid_t = geteuid()) -> Bool {
    user == owner || user == 0
  }

  /// Returns the user of the connected process.
  ///
  /// - Source: unix(7), SO_PEERCRED: the credentials at the time of `connect`.
  static func user(of channel: any Channel) -> EventLoopFuture<uid_t> {
    guard let provider = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    let credentials: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
      level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
    return credentials.map(\.user)
  }

  /// - Source: `struct ucred` of unix(7), which the C library declares only for GNU programs.
  private struct Credentials: Sendable {
    let process: pid_t
    let user: uid_t
    let group: gid_t
  }
}
