// SPDX-License-Identifier: Apache-2.0

/// A replacement of one expected value in a file.
public struct Rewrite: Sendable, Equatable {
  let range: SourceRange
  let text: String

  /// Replaces values in a text; everything around them stays the same.
  ///
  /// - Parameters:
  ///   - rewrites: The replacements, in any order; they must not overlap.
  ///   - text: The text of the file.
  public static func apply(_ rewrites: [Rewrite], to text: [UInt8]) -> [UInt8] {
    var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { Array($0) }
    for rewrite in rewrites.sorted(by: { $0.range.firstLine > $1.range.firstLine }) {
      let range = rewrite.range
      guard range.firstLine > 0, range.lastLine <= lines.count, range.firstLine <= range.lastLine
      else { continue }
      let isReturned = lines[range.lastLine - 1].last == UInt8(ascii: "\r")
      let line =
        lines[range.firstLine - 1].prefix(range.firstByte) + Array(rewrite.text.utf8)
        + (isReturned ? [UInt8(ascii: "\r")] : [])
      lines.replaceSubrange((range.firstLine - 1)..<range.lastLine, with: [Array(line)])
    }
    return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
  }
}
