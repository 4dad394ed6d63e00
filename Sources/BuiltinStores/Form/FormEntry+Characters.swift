// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
internal import StatewireJSON

extension FormEntry {
  /// Returns true if the entry has fewer than `count` extended grapheme clusters.
  ///
  /// Reads only as many characters as needed, so that a keystroke in a long entry costs no more
  /// than one in a short entry.
  func isShorter(than count: Int) -> Bool {
    if text.utf8.count < count { return true }
    // Fast path for printable ASCII: each character is one byte, whatever follows the prefix.
    let isPlain = text.withUTF8Bytes { $0.prefix(count).allSatisfy { 0x20..<0x7F ~= $0 } }
    return isPlain ? false : text.dropFirst(count - 1).isEmpty
  }

  /// Returns true if both entries look the same to a reader: they are canonically equivalent, as
  /// Swift compares strings.
  ///
  /// Entries that are not stream-safe match only if their bytes are equal. To sort consecutive
  /// marks, Swift needs time that grows with the square of their number: 0.6 s for an entry that
  /// consists of marks. All clients share one event loop.
  func matches(_ other: FormEntry) -> Bool {
    self == other || (isStreamSafe && other.isStreamSafe && text == other.text)
  }

  /// True if at most 30 marks follow each other, as in any text in practical use.
  ///
  /// - Source: UAX #15 §13 (Stream-Safe Text Format).
  private var isStreamSafe: Bool {
    // A text of at most 30 bytes contains at most 30 marks.
    if text.utf8.count <= Self.marksInARow { return true }
    var marks = 0
    for scalar in text.unicodeScalars {
      marks = scalar.isMark ? marks + 1 : 0
      if marks > Self.marksInARow { return false }
    }
    return true
  }

  private static var marksInARow: Int { 30 }
}

extension Unicode.Scalar {
  /// True if the scalar, or its decomposition, may be reordered with its neighbours.
  fileprivate var isMark: Bool {
    // U+0300 is the first combining mark.
    if value < 0x300 { return false }
    return switch self {
    // The only starters whose decomposition consists only of marks.
    case "\u{F73}", "\u{F75}", "\u{F81}": true
    default: properties.canonicalCombiningClass != .notReordered
    }
  }
}
