// SPDX-License-Identifier: Apache-2.0

/// A splitter of command lines into words, similar to a shell.
///
/// Blanks separate words. Single quotation marks keep all characters. Double quotation marks keep
/// blanks. A backslash inside double quotation marks, or outside quotation marks, keeps the next
/// character. There are no variables, patterns or pipes.
public enum CommandWords {
  /// The reason why a command line cannot be split.
  public enum Fault: Error, Equatable {
    /// A quotation mark is not closed.
    case unendedQuotation
    /// The text ends with a backslash.
    case trailingBackslash
  }

  /// Splits a command line into words.
  ///
  /// - Throws: `Fault` if a quotation mark is not closed or the text ends with a backslash.
  public static func split(_ text: String) throws(Fault) -> [String] {
    var words: [String] = []
    // Nil between words. A pair of quotation marks alone makes an empty word.
    var word: String?
    var quote: Character?
    var characters = text.makeIterator()
    while let character = characters.next() {
      switch (character, quote) {
      case ("'", "'"), ("\"", "\""):
        quote = nil
      case (_, "'"):
        word?.append(character)
      case ("\\", _):
        guard let kept = characters.next() else { throw .trailingBackslash }
        word = (word ?? "") + String(kept)
      case ("'", nil), ("\"", nil):
        quote = character
        word = word ?? ""
      case (" ", nil), ("\t", nil), ("\n", nil):
        if let ended = word { words.append(ended) }
        word = nil
      default:
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil else { throw .unendedQuotation }
    if let word { words.append(word) }
    return words
  }
}

extension CommandWords {
  /// Returns a word so that `split` gives it back.
  static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy {
      LineCursor.isLetter($0) || LineCursor.isDigit($0) || "-_./:=,@+".utf8.contains($0)
    }
    return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: "'\"'\"'"))'"
  }
}

extension CommandWords.Fault: CustomStringConvertible {
  /// The fault in words for people.
  public var description: String {
    switch self {
    case .unendedQuotation: "a quotation mark is not closed"
    case .trailingBackslash: "no character follows the backslash at the end"
    }
  }
}
