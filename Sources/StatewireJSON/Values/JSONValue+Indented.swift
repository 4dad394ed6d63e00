// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
  /// The value as text for readers: each member and each element on its own line, with a final line
  /// break.
  public var indented: String { indented(by: "") + "\n" }

  private func indented(by space: String) -> String {
    let inner = space + "  "
    switch self {
    case .array(let elements) where !elements.isEmpty:
      let lines = elements.map { inner + $0.indented(by: inner) }
      return "[\n" + lines.joined(separator: ",\n") + "\n" + space + "]"
    case .object(let members) where !members.isEmpty:
      let lines = members.map { key, value in
        "\(inner)\(JSONValue.string(key)): \(value.indented(by: inner))"
      }
      return "{\n" + lines.joined(separator: ",\n") + "\n" + space + "}"
    default: return description
    }
  }
}
