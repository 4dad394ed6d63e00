// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// Two sockets that are connected to each other.
struct SocketPair {
  let one: CInt
  let other: CInt

  /// - Throws: `StartupError` if the process or the system has too many open files.
  init() throws(StartupError) {
    var ends: [CInt] = [-1, -1]
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
    else {
      throw StartupError(
        "cannot create a pair of sockets: \(systemMessage(errno)); raise the limit (ulimit -n)")
    }
    (one, other) = (ends[0], ends[1])
  }
}
