// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

extension PEMFile {
  /// Makes sure that reading a file again does not wait for a writer, as that of a pipe would.
  /// - Throws: `StartupError` that names it.
  static func checkReadable(_ path: String) throws(StartupError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    throw StartupError("\(path) is no file, and is read once")
  }
}
