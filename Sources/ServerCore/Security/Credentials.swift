// SPDX-License-Identifier: Apache-2.0

/// The tokens that a server accepts; they can be replaced while it runs.
///
/// A client stays authorised while its identity has at least one token, even a different one. To
/// disconnect a client, remove all tokens of its name, then call `Server.credentialsChanged`.
public final class Credentials: Sendable {
  private let table: Lock<TokenTable>

  /// Creates credentials that accept the tokens of a table.
  public init(_ table: TokenTable) { self.table = Lock(table) }

  /// Replaces all accepted tokens; callable from any thread.
  public func replace(with table: TokenTable) {
    self.table.withLock { $0 = table }
  }

  /// Returns the identity of a token; nil if the token is unknown.
  public func identity(of token: String) -> Identity? {
    // The comparison runs outside the lock, on a copy of the table.
    table.withLock { $0 }.identity(of: token.utf8)
  }

  /// Returns true if an identity has at least one token.
  func knows(_ identity: Identity) -> Bool {
    table.withLock { $0 }.identities.contains(identity)
  }
}
