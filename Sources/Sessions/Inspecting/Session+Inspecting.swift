// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON
internal import StatewireProtocol

// Copies of parts of a session for the console. They change nothing.

extension Session {
  /// Returns a summary of the session.
  public func summary(isolation shard: isolated Shard) -> SessionSummary {
    SessionSummary(
      handle: handle?.abbreviated, identity: identity, isOwnerOfShared: isOwnerOfShared,
      age: shard.uptime - opened, expiresIn: deadline.map { $0 - shard.uptime },
      bytes: account.bytes, identityBytes: account.identityBytes,
      identitySessions: owner.map { shard.group.census.count(of: $0) },
      storeCount: storeEntries.count, frontendNames: names.count,
      participants: participants.prefix(SessionSummary.maximumParticipants).map {
        SessionSummary.Participant(
          client: $0.client, name: $0.name, isDriver: $0.role == .driver,
          isActive: $0.phase == .active, subscriptions: $0.subscriptionCount,
          queuedBytes: $0.connectedClient?.queuedBytes ?? 0)
      }, participantCount: participants.count)
  }

  /// The stores of the session, in the order in which they were opened last. There are at most as
  /// many as `SessionLimits.storesPerSession`.
  public var storeSummaries: [StoreSummary] {
    entriesInOrder.map { entry in
      StoreSummary(
        name: entry.name, kind: entry.kind, revision: entry.store.revision,
        isClosed: entry.isClosed, isShared: isShared(entry),
        subscriptions: entry.subscriptionCount, historyBytes: entry.history?.byteCount ?? 0)
    }
  }

  /// Returns the current view state of a store, which can be written on any thread, and its
  /// revision; nil if there is no open store with the name.
  ///
  /// It is the view of the machine, not that of an audience.
  public func inspectState(
    of name: String
  ) -> (kind: String, revision: Revision, state: JSONEncodedState)? {
    guard let entry = storeEntries[name], !entry.isClosed else { return nil }
    return (entry.kind, entry.store.revision, entry.store.shown)
  }
}
