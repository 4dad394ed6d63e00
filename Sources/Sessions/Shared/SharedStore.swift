// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// A store that several sessions use.
///
/// It belongs to a session of its own, to which no client attaches: the owner. So it is journaled,
/// restored and expires as every session does, and the entries of its users contain only its name.
/// All users have the same store entry, so an update is written once for all subscriptions.
final class SharedStore {
  /// The identification of a shared store.
  struct Key: Hashable {
    let kind: ByteString
    let name: ByteString
    /// The owner of the session that owns the store.
    let owner: ByteString
  }

  let key: Key
  let owner: Session
  let entry: StoreEntry
  /// The time for which the store is kept without users.
  let time: Duration
  private var sessions: [ObjectIdentifier: User] = [:]

  private struct User {
    // Weak, because the session retains this object.
    weak var session: Session?
    let first: Revision
  }

  init(_ key: Key, _ owner: Session, _ entry: StoreEntry, keptFor time: Duration) {
    self.key = key
    self.owner = owner
    self.entry = entry
    self.time = time
  }

  /// The sessions that use the store.
  var users: [Session] { sessions.values.compactMap(\.session) }

  /// Returns the first revision that clients of a session hold of this store for certain: earlier ones
  /// may be those of an earlier store with the same name, which had other states.
  func first(of session: Session) -> Revision { sessions[ObjectIdentifier(session)]?.first ?? 0 }

  /// Adds a session.
  ///
  /// - Parameter first: See `first(of:)`.
  func add(_ session: Session, from first: Revision, _ shard: isolated Shard) {
    if sessions.isEmpty { owner.stopExpiring(shard) }
    sessions[ObjectIdentifier(session)] = User(session: session, first: first)
    updatePhase()
  }

  /// Removes a session. Without users the store expires later.
  func remove(_ session: Session, _ shard: isolated Shard) {
    guard sessions.removeValue(forKey: ObjectIdentifier(session)) != nil, !owner.isEnded else {
      return
    }
    updatePhase()
    if sessions.isEmpty { owner.expire(after: time, shard) }
  }

  /// Sets the phase: active while a session that uses the store is active.
  func updatePhase() { owner.take(users.contains { $0.phase == .active } ? .active : .inactive) }
}

extension SharedStore.Key {
  /// Creates a key.
  ///
  /// - Parameter identity: The identity of the session that opens the store.
  init(_ kind: StoreKind, _ sharing: StoreScope.Sharing, name: String, identity: String?) {
    self.kind = ByteString(kind.name)
    self.name = ByteString(name)
    owner = ByteString(SharedStore.ownerName(sharing == .identity ? identity : nil))
  }
}

extension SharedStore {
  // The names of identities contain no control characters, so no client has such an identity.
  private static let prefix = "\u{1}shared"

  /// Returns the owner's name of the sessions that own shared stores.
  ///
  /// - Parameter identity: The identity of the sessions that share a store; nil for all sessions.
  static func ownerName(_ identity: String?) -> String {
    identity.map { "\(prefix) \($0)" } ?? prefix
  }

  /// Returns true if the name is that of an owner of shared stores.
  static func isOwner(_ name: String?) -> Bool { name?.hasPrefix(prefix) ?? false }

  /// Returns the identity in the name of an owner; the name itself if it is an identity.
  static func identity(of owner: String?) -> String? {
    guard let owner, isOwner(owner) else { return owner }
    return owner == prefix ? nil : String(owner.dropFirst(prefix.count + 1))
  }
}
