// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation

/// Access to whole files as bytes.
enum TextFile {
  static func read(_ path: String) throws(FileFault) -> [UInt8] {
    do throws(WholeFile.Fault) {
      return try WholeFile(path).bytes
    } catch {
      throw FileFault(description: "cannot be read: \(error)")
    }
  }

  /// Replaces the file at `path`, which must be a regular file: a pipe that was read cannot be
  /// rewritten, and a device must not be replaced by a file.
  static func rewrite(_ bytes: [UInt8], to path: String) throws(FileFault) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw FileFault(description: "cannot be rewritten: it is not a regular file")
    }
    do {
      try Data(bytes).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw FileFault(description: "cannot be written: \(reason(for: error))")
    }
  }

  /// Returns the message of the system if the error comes from the system.
  private static func reason(for error: any Error) -> String {
    let cause = (error as? CocoaError)?.underlying as? POSIXError
    return cause.map { systemMessage($0.code.rawValue) } ?? "\(error)"
  }
}

/// The reason why a file cannot be used.
struct FileFault: Error, CustomStringConvertible {
  let description: String
}
