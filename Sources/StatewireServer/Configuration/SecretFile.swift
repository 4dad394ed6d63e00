// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Logging
internal import Transports

/// A file whose contents are a secret: tokens, a URL, the secret of nodes.
struct SecretFile {
  /// The contents.
  let bytes: [UInt8]

  /// Reads the file, and logs a warning if other users may read or change it.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - subject: The contents in an error, such as "the tokens".
  ///   - maximumBytes: The largest size: a device may never end.
  ///   - logger: The log.
  ///   - isAgain: True if the file was read before; a pipe can be read only once.
  /// - Throws: `StartupError`, without any of the contents.
  init(
    _ path: String, _ subject: String, maximumBytes: Int, _ logger: Logger, isAgain: Bool = false
  ) throws(StartupError) {
    var status = stat()
    if isAgain, stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw StartupError(
        "\(subject) in \(path) cannot be reloaded, because it is not a regular file")
    }
    let file: WholeFile
    do throws(WholeFile.Fault) {
      file = try WholeFile(path, maximumBytes: maximumBytes)
    } catch {
      throw StartupError("\(subject) in \(path) cannot be read: \(error)", cause: error)
    }
    if file.isRegular, file.mode & 0o077 != 0, !CredentialFolder().contains(path) {
      logger.warning(
        "other users may read or change \(subject) in \(path); set its permissions to 600")
    }
    bytes = file.bytes
  }

  /// The contents without white space at the end.
  var text: String {
    var rest = bytes[...]
    while let last = rest.last, " \t\r\n".utf8.contains(last) { rest.removeLast() }
    return String(decoding: rest, as: UTF8.self)
  }
}
