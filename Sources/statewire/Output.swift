// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON

/// What the program writes, other than frames and logs.
///
/// A terminal executes control characters, and most of what is shown here comes from files and from
/// other programs. Text for people never holds any; data for programs is exact, unless it goes to a
/// terminal.
enum Output {
  /// Writes lines for people to standard output.
  static func show(_ lines: String) { print(lines.printableLines) }

  /// Writes lines for people to standard error.
  static func complain(_ lines: String) {
    FileHandle.standardError.write(Data("\(lines.printableLines)\n".utf8))
  }

  /// Writes JSON to standard output: as its bytes are, but to a terminal with JSON's escapes for
  /// control characters, which mean the same.
  ///
  /// - Parameter json: JSON in UTF-8.
  static func write(_ json: [UInt8]) throws {
    let isShown = isatty(STDOUT_FILENO) == 1
    let bytes = isShown ? Array(String(decoding: json, as: UTF8.self).printableLines.utf8) : json
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(bytes))
    } catch {
      throw JSONFile.Fault(description: "standard output cannot be written")
    }
  }

  static func writeLine(_ json: [UInt8]) throws { try write(json + [0x0A]) }
}
