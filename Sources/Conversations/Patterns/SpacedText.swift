// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

extension JSONValue {
  /// The value in one line with blanks after commas and colons.
  var spaced: String {
    switch self {
    case .null, .bool, .number, .string: description
    case .array(let elements): "[" + elements.map(\.spaced).joined(separator: ", ") + "]"
    case .object(let object):
      "{"
        + object.map { "\(JSONValue.string($0.key)): \($0.value.spaced)" }.joined(separator: ", ")
        + "}"
    }
  }
}

extension Pattern {
  /// The text of the pattern in a conversation.
  var spaced: String { written.spaced }

  /// The JSON value that parses to this pattern.
  var written: JSONValue {
    switch self {
    case .anything(let kind): .string(Pattern.placeholder("_", kind))
    case .named(let name, let kind): .string(Pattern.placeholder(name, kind))
    case .text(let parts):
      .string(
        parts.indices.reduce("") { text, index in
          switch parts[index] {
          case .literal(let literal):
            text + Placeholder.escaped(literal, beforeHole: index + 1 < parts.count)
          case .named(let name): text + Pattern.placeholder(name, nil)
          }
        })
    case .literal(.string(let text)): .string(Placeholder.escaped(text))
    case .literal(let value): value
    case .array(let elements): .array(elements.map(\.written))
    case .object(let members, let isOpen):
      .object(
        JSONObject(
          members.map { ($0.key, $0.pattern.written) } + (isOpen ? [("...", "...")] : [])))
    }
  }

  private static func placeholder(_ name: String, _ kind: Kind?) -> String {
    kind.map { "<\(name):\($0.rawValue)>" } ?? "<\(name)>"
  }
}
