// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

// The shared stores of a session.

extension Session {
  /// True if the session owns a shared store, and has no clients.
  var isOwnerOfShared: Bool { SharedStore.isOwner(owner) }

  /// Returns the key of the shared store with a name, and the time for which it is kept;
  /// nil if the stores of the kind are not shared, or if the session owns it.
  func sharing(_ kind: StoreKind?, name: String) -> (key: SharedStore.Key, time: Duration)? {
    guard let kind, !isOwnerOfShared, case .shared(let sharing, let time) = kind.scope else {
      return nil
    }
    return (SharedStore.Key(kind, sharing, name: name, identity: identity), time)
  }

  /// Opens a shared store, or uses it if another session has opened it.
  func share(
    _ opening: StoreOpening, _ key: SharedStore.Key, keptFor time: Duration, by viewer: Viewer,
    _ shard: isolated Shard
  ) throws(SessionError) -> StoreEntry {
    let shared = try shard.sharedStore(key, opening, keptFor: time, by: viewer)
    let former = storeEntries[opening.store]?.store.revision
    use(shared, from: former.map { $0 + 1 } ?? 0, shard)
    journal(shared)
    return shared.entry
  }

  /// Adds a shared store to the session.
  ///
  /// - Parameter first: See `SharedStore.first(of:)`.
  func use(_ shared: SharedStore, from first: Revision, _ shard: isolated Shard) {
    take(restored: shared.entry)
    sharedStores[shared.entry.name] = shared
    shared.add(self, from: first, shard)
  }

  /// Removes a shared store from the session, and notifies the subscribers of the session.
  func leave(_ shared: SharedStore, _ shard: isolated Shard) {
    let entry = shared.entry
    for participant in Array(participants) { participant.storeClosed(entry) }
    let content = StoreEntry.Content(
      kind: entry.content.kind, sharedConfiguration: nil, number: shard.nextNumber(),
      made: StoreKind.Made(
        closed: ClosedStore(
          revision: entry.store.revision, lastOperation: entry.store.lastOperation)),
      faults: entry.faults, isDurable: false)
    take(restored: StoreEntry(closed: entry.name, content, account, shard.turnOutcome))
    sharedStores[entry.name] = nil
    shared.remove(self, shard)
    // The session does not journal the updates of the store.
    write(.store(entry.name, .state(nil, revision: entry.store.revision)))
    write(.store(entry.name, .closed))
  }

  /// Journals that the session uses a shared store.
  func journal(_ shared: SharedStore) {
    let (entry, revision) = (shared.entry, shared.entry.store.revision)
    write(
      .store(
        entry.name,
        .opened(
          kind: entry.kind, configuration: entry.configuration, revision: shared.first(of: self))))
    write(.store(entry.name, .state(nil, revision: revision)))
  }

  /// True if the session uses a store entry that belongs to a shared store.
  func isShared(_ storeEntry: StoreEntry) -> Bool {
    sharedStores.count > 0
      && sharedStores[storeEntry.name]?.entry === storeEntry.parent ?? storeEntry
  }
}
