// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file with certificates, or with a key.
package enum PEMFile {
  /// The reason why a file cannot be used. Of one that cannot be read at all, the TLS library does not know
  /// the reason.
  package static func reason(_ path: String?, _ error: any Error) -> String {
    guard let path, access(path, R_OK) != 0 else { return "\(error)" }
    return systemMessage(errno)
  }
}
