// SPDX-License-Identifier: Apache-2.0

/// A position in a line, from which words and signs are read.
struct LineCursor {
  let line: SourceLine
  /// The position in bytes, from 0.
  private(set) var offset = 0

  init(_ line: SourceLine) {
    self.line = line
    skipBlanks()
  }

  var rest: ArraySlice<UInt8> { line.bytes[offset...] }
  var isAtEnd: Bool { rest.isEmpty }

  /// The remaining text, without blanks at its end.
  var restText: String {
    var rest = rest
    while let last = rest.last, Self.isBlank(last) { rest.removeLast() }
    return String(decoding: rest, as: UTF8.self)
  }

  mutating func skipBlanks() {
    offset += rest.prefix(while: Self.isBlank).count
  }

  /// Takes a sign and the blanks after it, if the sign comes next.
  mutating func take(_ sign: String) -> Bool {
    guard rest.starts(with: sign.utf8) else { return false }
    offset += sign.utf8.count
    skipBlanks()
    return true
  }

  /// Takes a word and the blanks after it. A word consists of ASCII letters, digits, `_` and `-`,
  /// and starts with a letter.
  mutating func takeWord() -> String? {
    guard let first = rest.first, Self.isLetter(first) else { return nil }
    let word = rest.prefix { Self.isLetter($0) || Self.isDigit($0) || "_-".utf8.contains($0) }
    offset += word.count
    skipBlanks()
    return String(decoding: word, as: UTF8.self)
  }

  /// Takes words in this order; takes nothing if other words come next.
  mutating func takeWords(_ words: String...) -> Bool {
    var cursor = self
    for word in words { guard cursor.takeWord() == word else { return false } }
    self = cursor
    return true
  }

  mutating func takeByte() -> UInt8? {
    guard let byte = rest.first else { return nil }
    offset += 1
    return byte
  }

  /// Skips bytes that exist in the line.
  mutating func skip(_ count: Int) { offset += count }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

/// The arrow of a line, with the name of its connection.
struct Arrow: Equatable {
  enum Direction { case toServer, fromServer }

  let connection: String
  let direction: Direction
}

extension LineCursor {
  /// Takes the arrow at the start of a line, with the name of the connection before it.
  mutating func takeArrow() -> Arrow? {
    var cursor = self
    let connection = cursor.takeWord() ?? ""
    let direction: Arrow.Direction
    if cursor.take("-->") {
      direction = .toServer
    } else if cursor.take("<--") {
      direction = .fromServer
    } else {
      return nil
    }
    self = cursor
    return Arrow(connection: connection, direction: direction)
  }
}
