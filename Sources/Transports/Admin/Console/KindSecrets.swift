// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The members with secrets of all store kinds, from the description of the server.
struct KindSecrets: Sendable {
  private let kinds: [String: SecretMembers]

  /// - Parameter document: The description of the server; see `ServerDescription.openRPC`.
  init(_ document: JSONValue) {
    let stores = (document["x-stores"]?.object ?? [:]).map { name, kind in
      (name, SecretMembers(names: Set(kind["secrets"]?.array?.compactMap(\.string) ?? [])))
    }
    kinds = Dictionary(stores) { $1 }
  }

  /// The secrets of the stores of a kind.
  subscript(kind: String) -> SecretMembers { kinds[kind] ?? SecretMembers(names: []) }
}
