// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

extension Pattern {
  /// Returns the JSON of a pattern that matches a value. It keeps the parts of this pattern that
  /// still match: placeholders, the order of members, and that there may be further members.
  func adjusted(to value: JSONValue, binding bindings: inout Bindings) -> JSONValue {
    if matches(value, binding: &bindings) { return written }
    switch (self, value) {
    case (.array(let patterns), .array(let values)):
      return .array(
        values.indices.map { index in
          index < patterns.count
            ? patterns[index].adjusted(to: values[index], binding: &bindings)
            : Pattern.literally(values[index], bindings.given)
        })
    case (.object(let members, let isOpen), .object(let object)):
      var rest = object
      var written = JSONObject()
      for member in members {
        guard let value = rest.removeValue(forKey: member.key) else { continue }
        written[member.key] = member.pattern.adjusted(to: value, binding: &bindings)
      }
      if isOpen {
        written["..."] = "..."
      } else {
        Pattern.write(rest, bindings.given, into: &written)
      }
      return .object(written)
    default:
      return Pattern.literally(value, bindings.given)
    }
  }

  /// Returns the JSON of a pattern that matches exactly a value, with the names of hidden values.
  static func literally(
    _ value: JSONValue, _ hidden: HiddenValues = HiddenValues()
  ) -> JSONValue {
    switch value {
    case .null, .bool: return value
    case .number: return hidden.pattern(of: "\(value)") == nil ? value : "<_:number>"
    case .string(let text):
      return hidden.pattern(of: text)?.written ?? .string(Placeholder.escaped(text))
    case .array(let elements): return .array(elements.map { literally($0, hidden) })
    case .object(let object):
      var written = JSONObject()
      write(object, hidden, into: &written)
      return .object(written)
    }
  }

  /// Writes members, and that there may be further ones if a key contains a hidden value.
  ///
  /// A member `"...": "..."` cannot be matched exactly, because it means that there may be further
  /// members.
  private static func write(
    _ members: JSONObject, _ hidden: HiddenValues, into written: inout JSONObject
  ) {
    var isOpen = false
    for (key, value) in members {
      if hidden.pattern(of: key) != nil {
        isOpen = true
      } else {
        written[key] =
          key == "..." && value.string == "..." ? "<_:string>" : literally(value, hidden)
      }
    }
    if isOpen { written["..."] = "..." }
  }
}
