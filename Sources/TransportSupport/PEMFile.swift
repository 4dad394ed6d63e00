// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Errors of a file that contains certificates or a private key.
package enum PEMFile {
  /// Returns the reason why a file cannot be used.
  ///
  /// If the process cannot read the file, it is the system's reason, which the TLS library does not
  /// report. Otherwise it is the description of `error`.
  ///
  /// - Parameters:
  ///   - path: The path of the file; nil if there is none.
  ///   - error: The error of the TLS library.
  package static func reason(_ path: String?, _ error: any Error) -> String {
    guard let path, access(path, R_OK) != 0 else { return "\(error)" }
    return systemMessage(errno)
  }
}
