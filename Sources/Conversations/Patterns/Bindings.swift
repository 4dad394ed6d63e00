// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The values that are bound to names.
///
/// Names are ASCII, so comparing them as `String` compares bytes.
struct Bindings: Sendable, Equatable {
  private var values: [String: JSONValue] = [:]
  /// The values that are shown by their names.
  private(set) var given = HiddenValues()

  subscript(name: String) -> JSONValue? { values[name] }

  mutating func bind(_ name: String, to value: JSONValue) { values[name] = value }

  /// Binds a name to a value of `--given`, such as a token, which no output may contain.
  mutating func bind(_ name: String, toGiven text: String) {
    values[name] = .string(text)
    given.add(text, name: name)
  }
}

/// A name without a value.
struct UnboundName: Error, Equatable {
  let name: String
}

extension Pattern {
  /// Returns the value with each name replaced by its value.
  ///
  /// Only the pattern of a sent message can be filled: other patterns contain placeholders without
  /// names.
  ///
  /// - Throws: `UnboundName` for a name without a value.
  func filled(from bindings: Bindings) throws(UnboundName) -> JSONValue {
    switch self {
    case .anything: throw UnboundName(name: "_")
    case .named(let name, _):
      guard let value = bindings[name] else { throw UnboundName(name: name) }
      return value
    case .text(let parts): return .string(try Pattern.joined(parts, bindings))
    case .literal(let value): return value
    case .array(let elements):
      var values: [JSONValue] = []
      for element in elements { values.append(try element.filled(from: bindings)) }
      return .array(values)
    case .object(let members, _):
      var object = JSONObject()
      for member in members { object[member.key] = try member.pattern.filled(from: bindings) }
      return .object(object)
    }
  }

  /// Returns the text of the parts: for a name the text of a string, or the JSON text of another
  /// value.
  static func joined(_ parts: [TextPart], _ bindings: Bindings) throws(UnboundName) -> String {
    var text = ""
    for part in parts {
      switch part {
      case .literal(let literal): text += literal
      case .named(let name):
        guard let value = bindings[name] else { throw UnboundName(name: name) }
        text += value.string ?? value.description
      }
    }
    return text
  }
}
