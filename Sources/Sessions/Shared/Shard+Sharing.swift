// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// The shared stores of a shard.

extension Shard {
  /// Returns a shared store; opens it if it is not open.
  ///
  /// - Parameters:
  ///   - key: The identification of the store.
  ///   - opening: The request to open it.
  ///   - time: The time for which it is kept without users, if it is journaled.
  ///   - viewer: The participant of the request.
  func sharedStore(
    _ key: SharedStore.Key, _ opening: StoreOpening, keptFor time: Duration, by viewer: Viewer
  ) throws(SessionError) -> SharedStore {
    if let shared = sharedStores[key] {
      guard shared.entry.isConfigured(as: opening.configuration) else {
        throw .otherConfiguration(opening.store)
      }
      return shared
    }
    _ = try isOpen(key)
    let owner = Session(isolation: self)
    let entry = try owner.openShared(opening, for: key.owner.string, by: viewer, self)
    return add(owner, entry, key, keptFor: time)
  }

  /// Returns true if a shared store is open, and false if it can be opened.
  ///
  /// - Throws: `SessionError` if it cannot.
  func isOpen(_ key: SharedStore.Key) throws(SessionError) -> Bool {
    if sharedStores[key] != nil { return true }
    if unusableShared.contains(key) { throw .setAside }
    // One that is not loaded may be this one.
    if loader.isReading || loader.failure != nil || !loader.missingOwners.isEmpty {
      throw .unreadable
    }
    guard group.census.count < limits.sessions else { throw .limit(.sessions) }
    return false
  }

  /// Adds the shared store of a session that was restored. If it has none, because its kind is not
  /// shared any more, it expires as any session without a client.
  func addShared(of owner: Session) {
    for entry in owner.entriesInOrder where !entry.isClosed {
      guard let kind = kind(entry.kind), case .shared(_, let time) = kind.scope else { continue }
      let key = SharedStore.Key(
        kind: ByteString(entry.kind), name: ByteString(entry.name),
        owner: ByteString(owner.owner ?? ""))
      _ = add(owner, entry, key, keptFor: time)
      return
    }
    owner.expire(after: limits.timeToLive, self)
  }

  private func add(
    _ owner: Session, _ entry: StoreEntry, _ key: SharedStore.Key, keptFor time: Duration
  ) -> SharedStore {
    let isKept = entry.isDurable && commits != nil
    let shared = SharedStore(key, owner, entry, keptFor: isKept ? time : limits.timeToLive)
    sharedStores[key] = shared
    return shared
  }

  /// Removes the shared stores of a session that ends.
  func removeShared(of owner: Session) {
    guard owner.isOwnerOfShared else { return }
    sharedStores = sharedStores.filter { $0.value.owner !== owner }
  }
}
