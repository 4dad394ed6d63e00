// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol

extension FormEntry {
  /// Whether the entry has fewer extended grapheme clusters.
  ///
  /// Only as many are looked at as are needed, so that a keystroke in a long entry costs no more
  /// than one in a short one.
  func isShorter(than count: Int) -> Bool {
    // What most people type: each character is one byte, whatever comes behind them.
    let start = text.utf8.prefix(count)
    if start.count < count { return true }
    if start.allSatisfy({ 0x20..<0x7F ~= $0 }) { return false }
    return text.dropFirst(count - 1).isEmpty
  }

  /// Whether both are the same to a reader: canonically equivalent, as Swift compares strings.
  ///
  /// What is not stream-safe is the same only if its bytes are: to bring marks in a row into order
  /// takes Swift a time that grows with the square of their number, 0.6 s for an entry full of them,
  /// and one loop serves everybody.
  func matches(_ other: FormEntry) -> Bool {
    self == other || (isStreamSafe && other.isStreamSafe && text == other.text)
  }

  /// Whether no more than 30 marks come in a row, as in any text in use.
  ///
  /// - Source: UAX #15 §13 (Stream-Safe Text Format).
  private var isStreamSafe: Bool {
    // So few bytes are no more marks.
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
  /// Whether it, or what it is decomposed into, may change places with its neighbours.
  fileprivate var isMark: Bool {
    // None comes before the combining marks of the first block that has any.
    if value < 0x300 { return false }
    return switch self {
    // The only starters that are decomposed into nothing but marks.
    case "\u{F73}", "\u{F75}", "\u{F81}": true
    default: properties.canonicalCombiningClass != .notReordered
    }
  }
}
