// SPDX-License-Identifier: Apache-2.0

extension String {
  /// The text in a form that is safe to show on a terminal: each character that a terminal acts on
  /// is replaced by a JSON escape, for example a line end by `\n` and an escape character by
  /// `\u001b`.
  ///
  /// Applied to JSON without line ends between its tokens, the result is JSON of the same value.
  /// Applying it twice has the same result as applying it once.
  public var printable: String { replacingControls(keepsLineEnds: false) }

  /// The text as for `printable`, but with `\n` as a line end: for text of several lines that
  /// consists of printable parts and text of this program.
  public var printableLines: String { replacingControls(keepsLineEnds: true) }

  /// Returns the text in quotation marks, printable, and cut after `limit` Unicode scalars so that
  /// a message stays readable.
  package func quoted(upTo limit: Int = 32) -> String {
    // Unicode scalars are counted, because one character can be as long as the frame.
    let rest = unicodeScalars.dropFirst(limit)
    return "\"\(String(unicodeScalars.prefix(limit)).printable)\(rest.isEmpty ? "" : "…")\""
  }

  private func replacingControls(keepsLineEnds: Bool) -> String {
    func isReplaced(_ scalar: Unicode.Scalar) -> Bool {
      scalar.isTerminalControl && !(keepsLineEnds && scalar == "\n")
    }
    guard unicodeScalars.contains(where: isReplaced) else { return self }
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if isReplaced(scalar) { text += scalar.escaped } else { text.append(scalar) }
    }
    return String(text)
  }
}

extension Unicode.Scalar {
  /// True for a character that moves the cursor, ends a line, starts a sequence that the terminal
  /// executes, or changes the order in which the text around it is shown.
  ///
  /// - Source: ECMA-48 §5 (C0 and C1), UAX #9 §2 (explicit directional formatting characters), UAX
  ///   #14 (U+2028 and U+2029 are mandatory breaks).
  fileprivate var isTerminalControl: Bool {
    switch value {
    case 0x00...0x1F, 0x7F...0x9F: true  // C0, DEL, C1
    case 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // bidirectional controls
    case 0x2028...0x2029: true  // line and paragraph separator
    default: false
    }
  }

  /// The escape of the character in a JSON string; all these characters are in the basic
  /// multilingual plane.
  fileprivate var escaped: String.UnicodeScalarView {
    switch self {
    case "\t": return "\\t".unicodeScalars
    case "\n": return "\\n".unicodeScalars
    case "\r": return "\\r".unicodeScalars
    default:
      let digits = String(value, radix: 16)
      return ("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits).unicodeScalars
    }
  }
}
