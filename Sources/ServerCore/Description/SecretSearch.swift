// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A search for members whose schema has `"writeOnly": true` or `"format": "password"`, which
/// programs of other languages use for secrets.
struct SecretSearch {
  /// The names of the members.
  private(set) var names: Set<String> = []
  /// The document that contains the targets of references.
  private let document: JSONValue
  private var seen: Set<String> = []

  init(in document: JSONValue) { self.document = document }

  /// Reads a schema and those to which it refers.
  mutating func read(_ schema: JSONValue) {
    switch schema {
    case .array(let elements):
      for element in elements { read(element) }
    case .object(let members):
      for (name, schema) in members["properties"]?.object ?? [:] where isSecret(schema) {
        names.insert(name)
      }
      if let reference = members["$ref"]?.string, seen.insert(reference).inserted {
        read(target(of: reference))
      }
      for (_, value) in members { read(value) }
    case .null, .bool, .number, .string: break
    }
  }

  private func isSecret(_ schema: JSONValue) -> Bool {
    if schema["writeOnly"] == true || schema["format"] == "password" { return true }
    // One step is enough: names are given to types, not to references.
    guard let target = schema["$ref"]?.string.map(target(of:)) else { return false }
    return target["writeOnly"] == true || target["format"] == "password"
  }

  private func target(of reference: String) -> JSONValue {
    guard reference.hasPrefix("#"),
      let pointer = try? JSONPointer(parsing: String(reference.dropFirst()))
    else { return .null }
    return document[pointer] ?? .null
  }
}
