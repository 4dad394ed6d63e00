// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// A pipe that wakes a loop. Both ends are non-blocking.
struct LoopPipe {
  let readEnd: CInt
  let writeEnd: CInt

  /// - Throws: `StartupError` if the process or the system has too many open files.
  init() throws(StartupError) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw StartupError(
        "cannot create a pipe: \(systemMessage(errno)); raise the limit (ulimit -n)")
    }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }
}
