// SPDX-License-Identifier: Apache-2.0

/// Splits a command line into words, as a shell does.
///
/// Blanks separate words. Single quotation marks keep everything; double ones keep blanks, and a
/// backslash in them or outside keeps the character behind it. Nothing else has a meaning: there
/// are no variables, patterns or pipes.
public enum CommandWords {
  /// Why a command line has no words.
  public enum Fault: Error, Equatable {
    case unendedQuotation
    case nothingBehindBackslash
  }

  public static func split(_ text: String) throws(Fault) -> [String] {
    var words: [String] = []
    // Nil between words; quotation marks alone make an empty one.
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
        guard let kept = characters.next() else { throw .nothingBehindBackslash }
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

extension CommandWords.Fault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unendedQuotation: "a quotation mark has no partner"
    case .nothingBehindBackslash: "nothing follows the backslash at the end"
    }
  }
}
