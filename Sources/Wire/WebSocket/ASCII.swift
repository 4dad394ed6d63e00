// SPDX-License-Identifier: Apache-2.0

// HTTP compares bytes. `String` compares characters: the Kelvin sign equals `K` and has the lower
// case `k`. `Int(_:)` accepts a sign.

extension StringProtocol {
  /// The text with A to Z in lower case and all other bytes unchanged.
  package var asciiLowercased: String {
    String(decoding: utf8.lazy.map(\.asciiLowercased), as: UTF8.self)
  }

  /// Compares bytes, ignoring the case of A to Z.
  package func isSame(ignoringASCIICase other: some StringProtocol) -> Bool {
    utf8.lazy.map(\.asciiLowercased).elementsEqual(other.utf8.lazy.map(\.asciiLowercased))
  }

  /// True if all bytes are digits 0 to 9; also true for an empty text.
  package var isASCIIDigits: Bool {
    utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}

extension BidirectionalCollection<UInt8> {
  /// The bytes without the spaces and tabs at both ends.
  ///
  /// - Source: RFC 9110 §5.5.
  package var trimmingBlanks: SubSequence {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var rest = drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return rest
  }
}

extension UInt8 {
  /// The lower-case byte for A to Z; all other bytes unchanged.
  package var asciiLowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
