// SPDX-License-Identifier: Apache-2.0

/// The account of the bytes of a session: configurations, states, and the updates that are kept for
/// reconnecting clients.
///
/// Configurations and states count twice: as text, and as the values that the store has decoded.
/// Lists are not counted here; they have separate limits.
final class SessionAccount {
  private let maximum: Int
  /// The bytes of the session.
  private(set) var bytes = 0
  /// The account of the session's identity; the account of all bytes if there is none.
  private var identity: ByteAccount
  private let all: ByteAccount
  /// The handle of the session, with which failures of its stores are logged.
  var handle: SessionHandle?

  init(maximum: Int, within accounts: IdentityAccounts) {
    self.maximum = maximum
    all = accounts.all
    identity = all
  }

  deinit { identity.add(-bytes) }

  // A session with at most this many bytes is served regardless of the bytes of other sessions.
  private static let freeBytes = 16 << 10

  /// Makes the account a part of the account of an identity.
  func belong(to other: ByteAccount) {
    guard other !== identity else { return }
    identity.add(-bytes)
    identity = other
    other.add(bytes)
  }

  /// The bytes of all sessions of the identity.
  var identityBytes: Int { identity.bytes }

  /// Adds bytes; a negative count removes bytes.
  func add(_ count: Int) {
    bytes += count
    identity.add(count)
  }

  /// Returns the limit that would be exceeded with `count` additional bytes; nil if there is none.
  func limit(adding count: Int) -> SessionError.Limit? {
    if count > maximum - bytes { return .bytesPerSession }
    if bytes + count <= Self.freeBytes { return nil }
    if identity.isExceeded(adding: count) { return identity === all ? .bytes : .bytesPerIdentity }
    return all.isExceeded(adding: count) ? .bytes : nil
  }
}
