// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import StatewireJSON

/// A parser of conversation files.
public struct ConversationParser {
  let file: String
  private let lines: [SourceLine]
  private var index = 0
  private var conversation: Conversation
  /// The names that an earlier line has bound to a value.
  private var known: Set<String> = []

  /// Parses the conversations of a file; there is at least one.
  ///
  /// In a file whose name ends in `.md` each fenced block with the info string `conversation` is
  /// one conversation. Any other file is one conversation.
  ///
  /// - Parameters:
  ///   - text: The contents of the file.
  ///   - file: The name of the file in errors and failures.
  /// - Throws: `ConversationError` for the first fault.
  public static func conversations(
    in text: some Sequence<UInt8>, file: String
  ) throws(ConversationError) -> [Conversation] {
    let lines = SourceLine.lines(of: text)
    let blocks = file.hasSuffix(".md") ? MarkdownBlocks.conversations(in: lines) : [lines]
    var conversations: [Conversation] = []
    for block in blocks {
      var parser = ConversationParser(file: file, lines: block)
      conversations.append(try parser.parse())
    }
    guard !conversations.isEmpty else {
      throw ConversationError(
        file: file, line: 1, column: 1, message: "there is no block ```conversation in this file")
    }
    return conversations
  }

  private init(file: String, lines: [SourceLine]) {
    self.file = file
    self.lines = lines
    conversation = Conversation(file: file, line: lines.first?.number ?? 1)
  }

  private mutating func parse() throws(ConversationError) -> Conversation {
    while let cursor = nextStatement() {
      try parse(statement: cursor)
    }
    guard !conversation.steps.isEmpty else {
      throw ConversationError(
        file: file, line: conversation.line, column: 1,
        message: "the conversation is empty: it sends and expects nothing")
    }
    return conversation
  }
}

// MARK: - Statements

extension ConversationParser {
  /// Returns the next line that is neither empty nor a comment; nil at the end.
  private mutating func nextStatement() -> LineCursor? {
    while index < lines.count {
      let cursor = LineCursor(lines[index])
      index += 1
      if let first = cursor.rest.first, first != UInt8(ascii: "#") { return cursor }
    }
    return nil
  }

  private mutating func parse(statement cursor: LineCursor) throws(ConversationError) {
    var cursor = cursor
    if cursor.rest.first == UInt8(ascii: "@") {
      try parse(directive: cursor)
    } else if let arrow = cursor.takeArrow() {
      switch arrow.direction {
      case .toServer: try parse(sent: cursor, on: arrow.connection)
      case .fromServer: try parse(expected: cursor, from: arrow.connection)
      }
    } else if cursor.takeWords("in", "any", "order") {
      try expectEnd(cursor)
      try parseGroup(from: cursor)
    } else if cursor.takeWords("end") {
      throw error(LineCursor(cursor.line), "\"end\" without \"in any order\" before it")
    } else {
      throw error(
        cursor, "expected --> or <--, a connection's name before one, \"in any order\", @ or #")
    }
  }

  private mutating func parse(directive cursor: LineCursor) throws(ConversationError) {
    var cursor = cursor
    let start = cursor
    cursor.skip(1)
    let name = cursor.takeWord() ?? ""
    if name == "server" || name == "framing", !conversation.steps.isEmpty {
      throw error(start, "@\(name) must be before all lines that send, expect or wait")
    }
    switch name {
    case "server":
      do {
        conversation.serverOptions += try CommandWords.split(cursor.restText)
      } catch {
        throw self.error(cursor, "\(error)")
      }
    case "framing":
      guard let framing = ClientConnection.Framing(name: cursor.restText) else {
        throw error(cursor, "expected lines or headers")
      }
      conversation.framing = framing
    case "wait":
      add(.wait(try seconds(&cursor)), at: cursor)
      try expectEnd(cursor)
    case "pause":
      add(.pause(try seconds(&cursor)), at: cursor)
      try expectEnd(cursor)
    case "given":
      guard let name = cursor.takeWord() else { throw error(cursor, "expected a name") }
      guard known.insert(name).inserted else {
        throw error(start, "<\(name)> has a value already")
      }
      conversation.givenNames.append(name)
      try expectEnd(cursor)
    default:
      throw error(start, "unknown directive; use @wait, @pause, @given, @server or @framing")
    }
  }

  private mutating func parse(
    sent cursor: LineCursor, on connection: String
  ) throws(ConversationError) {
    var cursor = cursor
    let line = cursor
    if cursor.takeWords("close") {
      add(.close(connection), at: line)
      try expectEnd(cursor)
    } else if cursor.takeWords("end", "of", "input") {
      add(.endInput(of: connection), at: line)
      try expectEnd(cursor)
    } else if cursor.takeWords("raw") {
      add(.send(.raw(try quotedBytes(cursor)), on: connection), at: line)
    } else if cursor.takeWords("frame") {
      let isQuoted = cursor.rest.first == UInt8(ascii: "\"")
      let bytes = isQuoted ? try quotedBytes(cursor) : Array(cursor.restText.utf8)
      add(.send(.frame(bytes), on: connection), at: line)
    } else {
      let source = try value(cursor, after: "-->", or: "close, end of input, raw or frame")
      let pattern: Pattern
      do throws(PatternFault) {
        pattern = try Pattern(sent: source.value, known: known)
      } catch {
        throw self.error(source, error)
      }
      add(.send(.message(pattern), on: connection), at: line)
    }
  }

  private mutating func parse(
    expected cursor: LineCursor, from connection: String
  ) throws(ConversationError) {
    var cursor = cursor
    let line = cursor
    if cursor.takeWords("close") {
      add(.expectClose(connection), at: line)
      try expectEnd(cursor)
    } else if cursor.takeWords("nothing", "for") {
      add(.expectNothing(on: connection, for: try seconds(&cursor)), at: line)
      try expectEnd(cursor)
    } else {
      let expectation = try expectation(cursor, from: connection)
      known.formUnion(expectation.pattern.names)
      add(.expect([expectation]), at: line)
    }
  }

  /// Parses a group up to its `end`; `in any order` has been read.
  private mutating func parseGroup(from start: LineCursor) throws(ConversationError) {
    var expectations: [Expectation] = []
    while var cursor = nextStatement() {
      if cursor.takeWords("end"), cursor.isAtEnd {
        guard !expectations.isEmpty else {
          throw error(cursor, "\"in any order\" contains no message")
        }
        known.formUnion(expectations.flatMap(\.pattern.names))
        add(.expect(expectations), at: start)
        return
      }
      guard let arrow = cursor.takeArrow(), arrow.direction == .fromServer else {
        throw error(
          LineCursor(cursor.line),
          "only messages with <-- can come in any order; is \"end\" missing?")
      }
      expectations.append(try expectation(cursor, from: arrow.connection))
    }
    throw error(LineCursor(start.line), "\"in any order\" has no \"end\"")
  }

  private mutating func expectation(
    _ cursor: LineCursor, from connection: String
  ) throws(ConversationError) -> Expectation {
    let source = try value(cursor, after: "<--", or: "close, or nothing for SECONDS")
    do throws(PatternFault) {
      return Expectation(
        line: cursor.line.number, connection: connection,
        pattern: try Pattern(expected: source.value, known: known), source: source.range)
    } catch {
      throw self.error(source, error)
    }
  }

  private mutating func add(_ action: Step.Action, at cursor: LineCursor) {
    conversation.steps.append(Step(line: cursor.line.number, action: action))
  }
}

// MARK: - Parts of statements

extension ConversationParser {
  private mutating func value(
    _ cursor: LineCursor, after arrow: String, or others: String
  ) throws(ConversationError) -> SourceValue {
    guard let first = cursor.rest.first else {
      throw error(cursor, "expected JSON after \(arrow), or \(others)")
    }
    var extent = JSONExtent(cursor)
    while extent.isOpen, index < lines.count, extent.canContinue(with: lines[index]) {
      extent.append(lines[index])
      index += 1
    }
    do {
      return try extent.parsed()
    } catch {
      let isWord = LineCursor.isLetter(first)
      let (line, offset) = extent.place(of: isWord ? 0 : error.offset ?? 0)
      throw ConversationError(
        file: file, line: line.number, column: line.column(of: offset),
        message: isWord ? "expected JSON, or \(others)" : "not JSON: \(error.message)")
    }
  }

  private func quotedBytes(_ cursor: LineCursor) throws(ConversationError) -> [UInt8] {
    var cursor = cursor
    let bytes: [UInt8]
    do throws(LineFault) {
      bytes = try cursor.takeQuotedBytes()
    } catch {
      throw ConversationError(
        file: file, line: cursor.line.number, column: cursor.line.column(of: error.offset),
        message: error.message)
    }
    try expectEnd(cursor)
    return bytes
  }

  /// Parses a number of seconds. It is bounded, so that every conversation ends.
  private func seconds(_ cursor: inout LineCursor) throws(ConversationError) -> Duration {
    let digits = cursor.rest.prefix { LineCursor.isDigit($0) || $0 == UInt8(ascii: ".") }
    guard let seconds = Double(String(decoding: digits, as: UTF8.self)), seconds > 0,
      seconds <= 3600
    else { throw error(cursor, "expected a number of seconds, more than 0 and at most 3600") }
    cursor.skip(digits.count)
    cursor.skipBlanks()
    return .seconds(seconds)
  }

  private func expectEnd(_ cursor: LineCursor) throws(ConversationError) {
    guard cursor.isAtEnd else { throw error(cursor, "expected the end of the line") }
  }

  private func error(_ cursor: LineCursor, _ message: String) -> ConversationError {
    ConversationError(
      file: file, line: cursor.line.number, column: cursor.line.column(of: cursor.offset),
      message: message)
  }

  private func error(_ source: SourceValue, _ fault: PatternFault) -> ConversationError {
    let (line, offset) = source.extent.place(of: fault.placeholder)
    return ConversationError(
      file: file, line: line.number, column: line.column(of: offset), message: fault.message)
  }
}
