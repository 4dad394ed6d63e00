// SPDX-License-Identifier: Apache-2.0

/// A program and its arguments, with the conditions under which it runs.
public struct ProgramCommand: Sendable {
  /// The program and its arguments; not empty.
  public var words: [String]
  /// The environment: names and values. The program inherits none of the server's variables except
  /// `PATH`, `HOME`, `LANG`, `LC_ALL`, `TZ` and `TMPDIR`.
  public var environment: [String: String] = [:]
  /// The working folder; nil for that of the server.
  public var folder: String?
  /// The time in which the program responds to a request.
  public var timeLimit: Duration = .seconds(10)
  /// The writable memory of one process, in bytes; 0 for no limit.
  public var memoryBytes = 2 << 30
  /// The number of processes that the user of the server may have while the program starts others; 0
  /// for no limit. It counts all processes of that user.
  public var processes = 0

  /// True if the program is replaced when files of its folder change. The folder is that of the first
  /// word that names a file, or else the working folder. An interpreter that is named by its path does
  /// not count.
  public var isWatched = false
  /// Folders in it that are not watched, such as the data folder of the server.
  public var unwatched: [String] = []

  /// Creates a command from words.
  public init(words: [String]) { self.words = words }

  /// Creates a command from one text, whose words are divided as by a shell: by spaces, with quotation
  /// marks and backslashes. Nothing is expanded, and no shell is started.
  ///
  /// - Throws: `ParsingError` for an empty text or an open quotation mark.
  /// - Source: POSIX.1-2017, Shell Command Language §2.2.
  public init(parsing text: String) throws(ParsingError) {
    var words: [String] = []
    var word: String?
    var rest = text.unicodeScalars[...]
    func quoted(_ mark: Unicode.Scalar) throws(ParsingError) -> String {
      var part = ""
      while let scalar = rest.popFirst() {
        if scalar == mark { return part }
        if mark == "\"", scalar == "\\", let next = rest.first,
          "\"\\$`".unicodeScalars.contains(next)
        {
          part.unicodeScalars.append(next)
          rest.removeFirst()
        } else {
          part.unicodeScalars.append(scalar)
        }
      }
      throw ParsingError("the command has an opening \(mark) without a closing one")
    }
    while let scalar = rest.popFirst() {
      switch scalar {
      case " ", "\t", "\n":
        if let word { words.append(word) }
        word = nil
      case "'", "\"": word = (word ?? "") + (try quoted(scalar))
      case "\\":
        guard let next = rest.popFirst() else {
          throw ParsingError("the command ends with a backslash")
        }
        word = (word ?? "") + String(Character(next))
      default: word = (word ?? "") + String(Character(scalar))
      }
    }
    if let word { words.append(word) }
    guard words.first?.isEmpty == false else { throw ParsingError("the command is empty") }
    self.init(words: words)
  }

  /// The reason why a text is not a command.
  public struct ParsingError: Error, CustomStringConvertible {
    /// The mistake in the text, one sentence without a full stop.
    public let description: String
    init(_ description: String) { self.description = description }
  }
}
