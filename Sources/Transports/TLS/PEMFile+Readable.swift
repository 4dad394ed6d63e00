// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

extension PEMFile {
  /// Checks that reading a file again does not block, as reading a pipe without a writer would.
  /// - Throws: `StartupError` that names the file, if the path is not a regular file. A missing
  ///   file is not an error here.
  static func checkReadable(_ path: String) throws(StartupError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    throw StartupError(
      "cannot read \(path) again: it is not a regular file; restart the server to read it")
  }
}
