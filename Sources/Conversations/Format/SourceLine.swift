// SPDX-License-Identifier: Apache-2.0

/// A line of a file, or of a block in it.
struct SourceLine: Sendable, Equatable {
  /// From 1, in the file.
  let number: Int
  /// How many blanks in front of it belong to the block and not to the line.
  let indentation: Int
  /// Without its end.
  let bytes: [UInt8]

  /// The column of a byte in the file, in characters from 1.
  func column(of offset: Int) -> Int {
    indentation + 1 + bytes.prefix(offset).count { $0 & 0xC0 != 0x80 }
  }

  /// The lines of a text; `\r\n` ends a line as `\n` does.
  static func lines(of text: some Sequence<UInt8>) -> [SourceLine] {
    Array(text).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated().map { index, line in
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        return SourceLine(number: index + 1, indentation: 0, bytes: Array(line))
      }
  }
}

/// A part of a file that begins somewhere in a line and ends with that line or a later one.
struct SourceRange: Sendable, Equatable {
  let firstLine: Int
  /// Where in the first line of the file, in bytes from 0.
  let firstByte: Int
  let lastLine: Int
}
