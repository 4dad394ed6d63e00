// SPDX-License-Identifier: Apache-2.0

internal import ServerCore
internal import StatewireJSON

/// The members with secrets of all store kinds: those that a kind conceals
/// (`StoreKind.concealing(_:)`), and those whose schema has `"writeOnly": true` or
/// `"format": "password"`, which programs of other languages use.
struct KindSecrets: Sendable {
  private let kinds: [String: SecretMembers]

  /// - Parameters:
  ///   - kinds: The store kinds; the last of several with one name counts.
  ///   - document: The description of the server, with the schemas of the kinds.
  init(_ kinds: [StoreKind], _ document: JSONValue) {
    var all: [String: SecretMembers] = [:]
    for kind in kinds {
      var search = Search(document: document, names: kind.secretMembers)
      search.read(document["x-stores"]?[kind.name] ?? .null)
      all[kind.name] = SecretMembers(names: search.names)
    }
    self.kinds = all
  }

  /// The secrets of the stores of a kind.
  subscript(kind: String) -> SecretMembers { kinds[kind] ?? SecretMembers(names: []) }

  private struct Search {
    let document: JSONValue
    var names: Set<String>
    private var seen: Set<String> = []

    init(document: JSONValue, names: Set<String>) {
      (self.document, self.names) = (document, names)
    }

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
}
