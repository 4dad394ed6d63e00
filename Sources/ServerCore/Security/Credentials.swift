// SPDX-License-Identifier: Apache-2.0

/// The tokens that a server takes now; they can be replaced while it runs.
///
/// Who is authorised stays so as long as the identity has any token, be it another one: to throw
/// somebody out, take away all tokens of the name, and tell the server (`Server.credentialsChanged`).
public final class Credentials: Sendable {
  private let table: Lock<TokenTable>

  public init(_ table: TokenTable) { self.table = Lock(table) }

  /// From now on these tokens count, and no other.
  public func replace(with table: TokenTable) {
    self.table.withLock { $0 = table }
  }

  /// Whose token this is; nil if it is nobody's.
  func identity(of token: String) -> Identity? {
    // Compared outside of the lock: the table is a value.
    table.withLock { $0 }.identity(of: token.utf8)
  }

  /// Whether an identity has a token still.
  func knows(_ identity: Identity) -> Bool {
    table.withLock { $0 }.identities.contains(identity)
  }
}
