// SPDX-License-Identifier: Apache-2.0

extension JSONSchema {
  /// Returns a small value that fits the schema; nil if none is found.
  ///
  /// - Parameter resolve: Returns a value for the target of a reference.
  func instance(_ resolve: (String) -> JSONValue?) -> JSONValue? {
    if let target = reference { return resolve(target) }
    if let value = keywords["examples"]?[0] ?? keywords["const"] ?? keywords["enum"]?[0] {
      return value
    }
    for key in ["oneOf", "anyOf", "allOf"] {
      guard let choices = keywords[key]?.array else { continue }
      for case .object(let choice) in choices {
        if let value = JSONSchema(choice).instance(resolve) { return value }
      }
      return nil
    }
    switch keywords["type"]?.string ?? keywords["type"]?[0]?.string {
    case "boolean": return false
    case "integer", "number": return keywords["minimum"] ?? 0
    case "string": return ""
    case "array": return array(resolve)
    case "object": return object(resolve)
    default: return .null
    }
  }

  private func array(_ resolve: (String) -> JSONValue?) -> JSONValue? {
    guard keywords["minItems"] != nil, case .object(let items)? = keywords["items"] else {
      return []
    }
    let count = max(0, keywords["minItems"]?.int ?? 1)
    return JSONSchema(items).instance(resolve).map { .array(Array(repeating: $0, count: count)) }
  }

  private func object(_ resolve: (String) -> JSONValue?) -> JSONValue? {
    var object: JSONObject = [:]
    for case .string(let name) in keywords["required"]?.array ?? [] {
      guard case .object(let member)? = keywords["properties"]?[name],
        let value = JSONSchema(member).instance(resolve)
      else { return nil }
      object[name] = value
    }
    return .object(object)
  }
}
