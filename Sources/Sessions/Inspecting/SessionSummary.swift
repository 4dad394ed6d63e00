// SPDX-License-Identifier: Apache-2.0

/// A copy of what the console shows of a session; it has neither the handle nor a state.
public struct SessionSummary: Sendable {
  /// The first digits of the handle, as in logs; nil for a session without one.
  public let handle: String?
  /// The identity that has opened the session; nil if there are no identities.
  public let identity: String?
  /// True if the session belongs to a store that several sessions share.
  public let isOwnerOfShared: Bool
  /// The time since the session was opened or loaded.
  public let age: Duration
  /// The time after which the session expires; nil while a client is attached.
  public let expiresIn: Duration?
  /// The size of its configurations, states and stored updates, as its limit counts it.
  ///
  /// - Units: bytes.
  public let bytes: Int
  /// The size of all sessions of its identity on the shard.
  ///
  /// - Units: bytes.
  public let identityBytes: Int
  /// The number of sessions with a handle of its identity; nil if there are no identities.
  public let identitySessions: Int?
  /// The number of its stores, including closed ones.
  public let storeCount: Int
  /// The number of frontend names that it remembers.
  public let frontendNames: Int
  /// The first participants, in the order in which they attached.
  public let participants: [Participant]
  /// The number of all participants.
  public let participantCount: Int

  /// A participant of the session.
  public struct Participant: Sendable {
    /// The id of its client, unique on its shard.
    public let client: ClientID
    /// The frontend's name; nil if it has none.
    public let name: String?
    /// True for a driver, false for an observer.
    public let isDriver: Bool
    /// True while the frontend is active.
    public let isActive: Bool
    /// The number of stores that it uses.
    public let subscriptions: Int
    /// The bytes that wait for its client to read them.
    public let queuedBytes: Int
  }

  /// The greatest number of participants in a summary.
  static let maximumParticipants = 50
}

/// A copy of what the console shows of a store, without its state.
public struct StoreSummary: Sendable {
  /// The name in the session.
  public let name: String
  /// The name of the store kind.
  public let kind: String
  /// The revision of the current state, or of the last state if the store is closed.
  public let revision: Revision
  /// True if the store was closed.
  public let isClosed: Bool
  /// True if several sessions share the store.
  public let isShared: Bool
  /// The number of subscriptions to the store, including the subscriptions of audiences.
  public let subscriptions: Int
  /// The size of the updates that are kept for reconnecting clients.
  ///
  /// - Units: bytes.
  public let historyBytes: Int
}
