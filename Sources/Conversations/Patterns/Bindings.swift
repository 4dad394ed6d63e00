// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The values that names stand for so far.
///
/// A name is ASCII, so comparing it as a `String` is comparing bytes.
struct Bindings: Sendable, Equatable {
  private var values: [String: JSONValue] = [:]

  subscript(name: String) -> JSONValue? { values[name] }

  mutating func bind(_ name: String, to value: JSONValue) { values[name] = value }
}

/// A name that stands for nothing.
struct UnboundName: Error, Equatable {
  let name: String
}

extension Pattern {
  /// The value with every name replaced by what it stands for.
  ///
  /// Only a pattern of something sent can be filled: the others have holes without names.
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

  /// A string's text, and the JSON text of everything else.
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
