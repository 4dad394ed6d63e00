// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How many files and sockets the process may have open.
enum OpenFiles {
  /// Raises the limit as far as allowed, since every connection takes one.
  static func raiseLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
