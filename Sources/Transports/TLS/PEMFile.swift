// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file with certificates, or with a key.
enum PEMFile {
  /// Why it cannot be used: of one that cannot be read at all, the library knows no more than that.
  static func reason(_ path: String?, _ error: any Error) -> String {
    guard let path, access(path, R_OK) != 0 else { return "\(error)" }
    return systemMessage(errno)
  }

  /// Makes sure that reading a file again does not wait for whoever would write into it, a pipe say.
  /// - Throws: `StartupError` that names it.
  static func checkReadable(_ path: String) throws(StartupError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    throw StartupError("\(path) is no file, and is read once")
  }
}
