// SPDX-License-Identifier: Apache-2.0

internal import ServerCore
internal import StatewireJSON

/// The members with secrets of all store kinds, from the description of the server.
struct KindSecrets: Sendable {
  private let kinds: [String: SecretMembers]

  /// - Parameter document: The description of the server; see `ServerDescription.openRPC`.
  init(_ document: JSONValue) {
    let stores = (document["x-stores"]?.object ?? [:]).map { name, kind in
      let members = SchemaMembers(of: kind, in: document)
      let secrets = Set(kind["secrets"]?.array?.compactMap(\.string) ?? [])
      return (
        name, SecretMembers(names: secrets, known: members.names, inputs: members.types)
      )
    }
    kinds = Dictionary(stores) { $1 }
  }

  /// Returns true if a kind has an input with a name.
  func isInput(_ name: String) -> Bool { kinds.values.contains { $0.inputs.contains(name) } }

  /// The secrets of the stores of a kind.
  subscript(kind: String) -> SecretMembers { kinds[kind] ?? SecretMembers(names: []) }
}
