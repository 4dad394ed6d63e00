// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Transports

/// The standard streams, and the size of files.
enum OpenFiles {
  /// Occupies standard input, output and errors where they are closed, so that no file or socket that is opened later
  /// is taken for one of them.
  ///
  /// - Throws: `StartupError` where no descriptor is left for that.
  static func occupyStandardStreams() throws(StartupError) {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      guard let null = Nowhere.open() else {
        throw StartupError("/dev/null cannot be opened: \(systemMessage(errno))")
      }
      if null != descriptor {
        dup2(null, descriptor)
        close(null)
      }
    }
  }

  /// Lets a write fail that would make a file larger than this process may (`ulimit -f`), as on a full
  /// disk, where it would be ended by a signal.
  static func outliveSizeLimit() { signal(SIGXFSZ, SIG_IGN) }
}
