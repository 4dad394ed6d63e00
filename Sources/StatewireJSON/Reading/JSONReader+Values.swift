// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
  /// Reads any value as a tree.
  ///
  /// The function recurses once per level, so never deeper than the limits allow.
  ///
  /// - Throws: `JSONError` if the text is not JSON or too deep.
  public mutating func readValue() throws(JSONError) -> JSONValue {
    switch try peek() {
    case .null:
      try readNull()
      return .null
    case .bool:
      return .bool(try readBool())
    case .number:
      return .number(try readNumber())
    case .string:
      return .string(try readString())
    case .array:
      try beginArray()
      var elements: [JSONValue] = []
      while try nextElement() { elements.append(try readValue()) }
      return .array(elements)
    case .object:
      try beginObject()
      var object = JSONObject()
      while let key = try nextKey() { object[key.string] = try readValue() }
      return .object(object)
    }
  }
}
