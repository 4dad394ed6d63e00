// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

extension Pattern {
  /// What is to be written so that a value is expected, with as much kept of this pattern as still
  /// holds: its placeholders, the order of its members, and that there may be further ones.
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

  /// How a value is written so that exactly it is expected.
  static func literally(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool, .number: value
    case .string(let text): .string(Placeholder.escaped(text))
    case .array(let elements): .array(elements.map(literally))
    case .object(let object):
      .object(JSONObject(object.map { ($0.key, literally($0.value, forKey: $0.key)) }))
    }
  }

  /// A member `"...": "..."` cannot be expected exactly, as it means something else.
  private static func literally(_ value: JSONValue, forKey key: String) -> JSONValue {
    key == "..." && value.string == "..." ? "<_:string>" : literally(value)
  }
}
