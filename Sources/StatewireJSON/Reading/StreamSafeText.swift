// SPDX-License-Identifier: Apache-2.0

extension String {
  /// True if at most 30 marks follow each other, as in any text in practical use.
  ///
  /// To compare or to hash other texts by their characters, Swift sorts consecutive marks, in a time
  /// that grows with the square of their number: 2 s for 128 KiB of marks.
  ///
  /// - Source: UAX #15 §13 (Stream-Safe Text Format).
  package var isStreamSafe: Bool {
    // A text of at most 30 bytes contains at most 30 marks.
    if utf8.count <= Self.marksInARow { return true }
    var marks = 0
    for scalar in unicodeScalars {
      marks = scalar.isMark ? marks + 1 : 0
      if marks > Self.marksInARow { return false }
    }
    return true
  }

  fileprivate static var marksInARow: Int { 30 }
}

extension JSONKey {
  /// True if the string is stream-safe, as for `String`.
  var isStreamSafe: Bool {
    rawBytes.count <= String.marksInARow || string.isStreamSafe
  }
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
