// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Transports

/// The set-up of the standard streams and of the file size limit.
enum OpenFiles {
  /// Opens `/dev/null` for each standard stream that is closed, so that no file or socket that is
  /// opened later gets its descriptor.
  ///
  /// - Throws: `StartupError` if `/dev/null` cannot be opened.
  static func occupyStandardStreams() throws(StartupError) {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      guard let null = NullDevice.open() else {
        throw StartupError("cannot open /dev/null: \(systemMessage(errno))")
      }
      if null != descriptor {
        dup2(null, descriptor)
        close(null)
      }
    }
  }

  /// Ignores SIGXFSZ: a write beyond the file size limit (`ulimit -f`) fails, as on a full disk,
  /// and does not end the process.
  static func ignoreSizeLimitSignal() { signal(SIGXFSZ, SIG_IGN) }
}
