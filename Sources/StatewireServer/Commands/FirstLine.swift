// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TransportSupport

/// The first line of a file, without its end: the form in which commands take a secret.
package enum FirstLine {
  /// Reads the first line of a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - option: The option with the path, for the error.
  /// - Throws: `ValidationError` if the file cannot be read.
  package static func read(_ path: String, _ option: String) throws -> String {
    do throws(WholeFile.Fault) {
      let line = try WholeFile(path, maximumBytes: 64 << 10).bytes.prefix { $0 != 0x0A }
      return String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    } catch {
      throw ValidationError("\(option): \(path) cannot be read: \(error)")
    }
  }
}
