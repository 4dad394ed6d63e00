// SPDX-License-Identifier: Apache-2.0

/// The bytes that a session holds: configurations, states, and frames for frontends that come back.
///
/// Configurations and states are counted twice, as text and as what the store has made of it. Lists are not
/// counted here; they have limits of their own.
final class SessionAccount {
  private let session: ByteAccount
  private var identity: ByteAccount
  private let all: ByteAccount

  init(maximum: Int, within accounts: IdentityAccounts) {
    all = accounts.all
    identity = all
    session = ByteAccount(maximum: maximum, within: all)
  }

  // A session that has so little is served, whatever others hold.
  private static let freeBytes = 16 << 10

  /// The session belongs to an identity.
  func belong(to identity: ByteAccount) {
    self.identity = identity
    session.move(within: identity)
  }

  var bytes: Int { session.bytes }

  func add(_ count: Int) { session.add(count) }

  /// The limit that would be exceeded with so many bytes more; nil if none.
  func limit(adding count: Int) -> SessionError.Limit? {
    if session.isExceeded(adding: count) { return .bytesPerSession }
    if session.bytes + count <= Self.freeBytes { return nil }
    if identity.isExceeded(adding: count) { return identity === all ? .bytes : .bytesPerIdentity }
    return all.isExceeded(adding: count) ? .bytes : nil
  }
}
