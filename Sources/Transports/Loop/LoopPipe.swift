// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// A pipe by which a loop is woken; neither end ever keeps anybody waiting.
struct LoopPipe {
  let readEnd: CInt
  let writeEnd: CInt

  /// - Throws: `StartupError`.
  init() throws(StartupError) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw StartupError("no pipe could be made: \(systemMessage(errno))")
    }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }
}
