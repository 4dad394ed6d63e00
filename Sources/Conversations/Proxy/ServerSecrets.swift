// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The values of a server that a recording must not contain.
public struct ServerSecrets: Sendable, Equatable {
  /// The part of a value that is secret.
  enum Rule: Equatable {
    /// The members with these names, at any depth; names are in lower case.
    case members(Set<String>)
    /// The whole value: its contents are not known.
    case everything
  }

  /// Members that are secret in each message, in lower case.
  static let always: Set<String> = [
    "apikey", "api_key", "authorization", "cookie", "passphrase", "passwd", "password", "secret",
    "token",
  ]

  private var kinds: [String: Set<String>] = [:]
  private var names: Set<String>
  private var isComplete = false
  private let keepsUndescribed: Bool

  /// Creates the rules for a server that has not described its secrets.
  ///
  /// - Parameters:
  ///   - names: Members whose values are secret in each message.
  ///   - keepsUndescribed: True if the other values of stores that the server does not describe are
  ///     recorded. Otherwise these values are redacted.
  public init(names: [String] = [], keepsUndescribed: Bool = false) {
    self.names = Set(names.map { $0.lowercased() }).union(Self.always)
    self.keepsUndescribed = keepsUndescribed
  }

  /// Reads the description of the server: the result of `rpc.discover`, or the output of the
  /// command `schema`.
  ///
  /// A kind without `secrets` is not described: the server has an older version.
  ///
  /// - Parameters:
  ///   - document: The OpenRPC document.
  ///   - isComplete: True if the running server has sent it, so that it has no other kinds.
  /// - Returns: True if the document lists the secrets of kinds.
  @discardableResult
  public mutating func learn(from document: JSONValue, isComplete: Bool) -> Bool {
    guard let stores = document["x-stores"]?.object else { return false }
    var isComplete = isComplete
    for (kind, description) in stores {
      if let names = description["secrets"]?.array {
        kinds[kind] = Set(names.compactMap { $0.string?.lowercased() })
      } else {
        isComplete = false
      }
    }
    self.isComplete = self.isComplete || isComplete
    return isDescribed
  }

  /// True if the server has described the secrets of its kinds.
  public var isDescribed: Bool { !kinds.isEmpty }

  /// Returns true if the server has described a kind.
  func describes(_ kind: String) -> Bool { kinds[kind] != nil }

  /// The rule for members of the protocol, which are not data of stores.
  var ofProtocol: Rule { .members(names) }

  /// The rule for a message with a method that Statewire does not have.
  var ofOtherMethods: Rule { keepsUndescribed && !isDescribed ? .members(names) : .everything }

  /// Returns the rule for the data of a store.
  ///
  /// - Parameter kind: The kind of the store; nil if it is not known.
  func rule(ofKind kind: String?) -> Rule {
    if let kind, let secrets = kinds[kind] { return .members(secrets.union(names)) }
    if kind == nil, isComplete { return .members(kinds.values.reduce(names) { $0.union($1) }) }
    return keepsUndescribed ? .members(names) : .everything
  }
}
