// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file with certificates, or with a key.
enum PEMFile {
  /// Why it cannot be used: of one that cannot be read at all, the library knows no more than that.
  static func reason(_ path: String?, _ error: any Error) -> String {
    guard let path, access(path, R_OK) != 0 else { return "\(error)" }
    return systemMessage(errno)
  }
}
