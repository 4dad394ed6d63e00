// SPDX-License-Identifier: Apache-2.0

/// The placeholders between `<` and `>` in a string.
///
/// Before the rest of a placeholder `<<` means the text `<`: `<<id>` is the text `<id>`, and
/// `<<<id>` is the text `<` and then the placeholder `<id>`. All other angle brackets are text.
enum Placeholder {
  enum Part: Equatable {
    case text(String)
    /// The name and the kind of a placeholder. The kind may be unknown.
    case hole(name: String, kind: String?)
  }

  /// Returns the parts of a string; a string without placeholders has one part or none.
  static func parts(of string: String) -> [Part] {
    var parts: [Part] = []
    var text: [UInt8] = []
    var rest = Array(string.utf8)[...]
    while let byte = rest.first {
      let brackets = rest.prefix { $0 == UInt8(ascii: "<") }.count
      guard brackets > 0 else {
        text.append(byte)
        rest.removeFirst()
        continue
      }
      let inside = rest.dropFirst(brackets)
      rest = inside
      guard let hole = hole(at: inside) else {
        text += repeatElement(UInt8(ascii: "<"), count: brackets)
        continue
      }
      text += repeatElement(UInt8(ascii: "<"), count: brackets / 2)
      guard brackets % 2 == 1 else { continue }
      if !text.isEmpty { parts.append(.text(String(decoding: text, as: UTF8.self))) }
      text = []
      parts.append(.hole(name: hole.name, kind: hole.kind))
      rest = inside.dropFirst(hole.length)
    }
    if !text.isEmpty { parts.append(.text(String(decoding: text, as: UTF8.self))) }
    return parts
  }

  /// Returns a text with `<` doubled where it would begin a placeholder.
  ///
  /// - Parameter beforeHole: True if a placeholder follows the text.
  static func escaped(_ text: String, beforeHole: Bool = false) -> String {
    var escaped: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.first {
      let brackets = rest.prefix { $0 == UInt8(ascii: "<") }.count
      guard brackets > 0 else {
        escaped.append(byte)
        rest.removeFirst()
        continue
      }
      rest = rest.dropFirst(brackets)
      let isFollowed = hole(at: rest) != nil || (beforeHole && rest.isEmpty)
      escaped += repeatElement(UInt8(ascii: "<"), count: isFollowed ? 2 * brackets : brackets)
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  /// Parses `name>` or `name:kind>` at the start of bytes, and returns its length too.
  private static func hole(
    at bytes: ArraySlice<UInt8>
  ) -> (name: String, kind: String?, length: Int)? {
    guard let first = bytes.first, LineCursor.isLetter(first) || first == UInt8(ascii: "_") else {
      return nil
    }
    let name = bytes.prefix(while: isNameByte)
    var rest = bytes.dropFirst(name.count)
    var kind: String?
    if rest.first == UInt8(ascii: ":") {
      let letters = rest.dropFirst().prefix(while: LineCursor.isLetter)
      kind = String(decoding: letters, as: UTF8.self)
      rest = rest.dropFirst(1 + letters.count)
    }
    guard rest.first == UInt8(ascii: ">") else { return nil }
    let length = rest.startIndex + 1 - bytes.startIndex
    return (String(decoding: name, as: UTF8.self), kind, length)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    LineCursor.isLetter(byte) || LineCursor.isDigit(byte) || "_-".utf8.contains(byte)
  }
}
