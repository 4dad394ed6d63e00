// SPDX-License-Identifier: Apache-2.0

/// The account of the bytes of a session: configurations, states, and the updates that are kept for
/// reconnecting clients.
///
/// Configurations and states count twice: as text, and as the values that the store has decoded.
/// Lists are not counted here; they have separate limits.
final class SessionAccount {
  private let session: ByteAccount
  private var identity: ByteAccount
  private let all: ByteAccount
  /// The handle of the session, with which failures of its stores are logged.
  var handle: SessionHandle?

  init(maximum: Int, within accounts: IdentityAccounts) {
    all = accounts.all
    identity = all
    session = ByteAccount(maximum: maximum, within: all)
  }

  // A session with at most this many bytes is served regardless of the bytes of other sessions.
  private static let freeBytes = 16 << 10

  /// Makes the account a part of the account of an identity.
  func belong(to identity: ByteAccount) {
    self.identity = identity
    session.move(within: identity)
  }

  var bytes: Int { session.bytes }
  /// The bytes of all sessions of the identity.
  var identityBytes: Int { identity.bytes }

  func add(_ count: Int) { session.add(count) }

  /// Returns the limit that would be exceeded with `count` additional bytes; nil if there is none.
  func limit(adding count: Int) -> SessionError.Limit? {
    if session.isExceeded(adding: count) { return .bytesPerSession }
    if session.bytes + count <= Self.freeBytes { return nil }
    if identity.isExceeded(adding: count) { return identity === all ? .bytes : .bytesPerIdentity }
    return all.isExceeded(adding: count) ? .bytes : nil
  }
}
