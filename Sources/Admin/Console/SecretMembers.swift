// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The names of members with secrets of users, and the removal of their values from what the console
/// shows; see `KindSecrets`.
struct SecretMembers: Sendable {
  let names: Set<String>
  /// The names of all members in the schemas of the kind.
  var known: Set<String> = []
  /// The names of the inputs of the kind.
  var inputs: Set<String> = []

  /// The text in place of a value that is not shown.
  static let mark = JSONValue.string("(redacted)")

  /// Returns a state, an input or an event without secrets.
  func redacted(_ value: JSONValue) -> JSONValue {
    if names.isEmpty { return value }
    switch value {
    case .array(let elements): return .array(elements.map { redacted($0) })
    case .object(let members):
      return .object(
        JSONObject(
          members.map { name, value in
            (name, names.contains(name) ? Self.mark : redacted(value))
          }))
    case .null, .bool, .number, .string: return value
    }
  }

  /// Returns an input or a configuration, as a client has sent it, without secrets.
  ///
  /// A client can put a secret where the schemas have nothing: into a member with another name, the
  /// name of a member, or the input itself. If the kind has secrets, all of these are left out.
  func redacted(sent value: JSONValue) -> JSONValue {
    if names.isEmpty { return value }
    guard case .object(let members) = value else { return Self.mark }
    if let type = members["type"]?.string, !inputs.isEmpty, !inputs.contains(type) {
      return ["type": Self.mark]
    }
    return redacted(members: members)
  }

  private func redacted(members: JSONObject) -> JSONValue {
    var shown: JSONObject = [:]
    for (name, value) in members {
      guard known.contains(name) else {
        shown["(redacted)"] = Self.mark
        continue
      }
      shown[name] = names.contains(name) ? Self.mark : redacted(part: value)
    }
    return .object(shown)
  }

  private func redacted(part value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map { redacted(part: $0) })
    case .object(let members): redacted(members: members)
    case .null, .bool, .number, .string: value
    }
  }

  /// Returns the operations of a patch without secrets.
  ///
  /// A `move` or `copy` needs no change: the receiver has redacted values only.
  func redacted(patch: JSONValue) -> JSONValue {
    guard !names.isEmpty, let operations = patch.array else { return patch }
    return .array(operations.map { redacted(operation: $0) })
  }

  private func redacted(operation: JSONValue) -> JSONValue {
    guard var members = operation.object, let value = members["value"],
      let path = members["path"]?.string, let pointer = try? JSONPointer(parsing: path)
    else { return operation }
    members["value"] = pointer.tokens.contains(where: names.contains) ? Self.mark : redacted(value)
    return .object(members)
  }
}
