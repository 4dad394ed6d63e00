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
            : Pattern.literally(values[index])
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
        for (key, value) in rest { written[key] = Pattern.literally(value, forKey: key) }
      }
      return .object(written)
    default:
      return Pattern.literally(value)
    }
  }

  /// Returns the JSON of a pattern that matches exactly a value.
  static func literally(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool, .number: value
    case .string(let text): .string(Placeholder.escaped(text))
    case .array(let elements): .array(elements.map(literally))
    case .object(let object):
      .object(JSONObject(object.map { ($0.key, literally($0.value, forKey: $0.key)) }))
    }
  }

  /// Returns the JSON for a member. A member `"...": "..."` cannot be matched exactly, because it
  /// means that there may be further members.
  private static func literally(_ value: JSONValue, forKey key: String) -> JSONValue {
    key == "..." && value.string == "..." ? "<_:string>" : literally(value)
  }
}
