// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import StatewireJSON
internal import Transports

/// The output of a program's commands, other than frames and logs.
///
/// A terminal executes control characters, and most of the output comes from files and other
/// programs. Text for people never contains control characters. Data for programs is exact, unless
/// it goes to a terminal.
public enum Output {
  /// Writes lines for people to standard output.
  public static func show(_ lines: String) { print(lines.printableLines) }

  /// Writes lines for people to standard error.
  public static func writeError(_ lines: String) {
    FileHandle.standardError.write(Data("\(lines.printableLines)\n".utf8))
  }

  /// Writes JSON to standard output. On a terminal, control characters are written as JSON escapes,
  /// which have the same meaning.
  ///
  /// - Parameter json: JSON in UTF-8.
  /// - Throws: `StartupError` if standard output cannot be written.
  public static func write(_ json: [UInt8]) throws {
    let isShown = isatty(STDOUT_FILENO) == 1
    let bytes = isShown ? Array(String(decoding: json, as: UTF8.self).printableLines.utf8) : json
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(bytes))
    } catch {
      throw StartupError("standard output cannot be written", cause: error)
    }
  }

  /// Writes JSON and a line end to standard output.
  ///
  /// - Parameter json: JSON in UTF-8.
  /// - Throws: `StartupError` if standard output cannot be written.
  public static func writeLine(_ json: [UInt8]) throws { try write(json + [0x0A]) }
}
