// SPDX-License-Identifier: Apache-2.0

/// A line of a file, or of a block in a file.
struct SourceLine: Sendable, Equatable {
  /// The number of the line in the file, from 1.
  let number: Int
  /// The number of blanks before the line that belong to the block.
  let indentation: Int
  /// The bytes of the line, without the line end.
  let bytes: [UInt8]

  /// Returns the column of a byte in the file, in characters from 1.
  func column(of offset: Int) -> Int {
    indentation + 1 + bytes.prefix(offset).count { $0 & 0xC0 != 0x80 }
  }

  /// Splits a text into lines; `\n` or `\r\n` ends a line.
  static func lines(of text: some Sequence<UInt8>) -> [SourceLine] {
    Array(text).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated().map { index, line in
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        return SourceLine(number: index + 1, indentation: 0, bytes: Array(line))
      }
  }
}

/// A part of a file from a position in one line to the end of this line or a later one.
struct SourceRange: Sendable, Equatable {
  let firstLine: Int
  /// The position in the first line, in bytes from 0.
  let firstByte: Int
  let lastLine: Int
}
