// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How many files and sockets the process may have open.
enum OpenFiles {
  /// Puts `/dev/null` where standard input, output or errors are closed, so that no file or socket
  /// that is opened later is taken for one of them.
  static func occupyStandardStreams() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      let null = open("/dev/null", O_RDWR)
      if null >= 0, null != descriptor { close(null) }
    }
  }

  /// Lets a write fail that would make a file larger than this process may (`ulimit -f`), as on a full
  /// disk, where it would be ended by a signal.
  static func outliveSizeLimit() { signal(SIGXFSZ, SIG_IGN) }

  /// Raises the limit as far as allowed, since every connection takes one.
  static func raiseLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
