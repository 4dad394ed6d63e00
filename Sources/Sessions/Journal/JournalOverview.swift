// SPDX-License-Identifier: Apache-2.0

/// The sessions in a journal without their stores.
///
/// A start reads only this, so its duration does not depend on the number of stores.
public struct JournalOverview: Sendable {
  /// The sessions, in the order in which their work continues.
  public var sessions: [Session] = []
  /// The sessions that are set aside, with their stores, so that the log can name the stores.
  public var setAside: [JournalContents.Session] = []
  /// The handles of ended sessions, as in `JournalContents`.
  public var ended: [(handle: SessionHandle, owner: String?)] = []
  /// The size of the states that are kept aside, in bytes.
  public var keptBytes = 0
  /// Descriptions of unreadable parts, as in `JournalContents`.
  public var damage: [String] = []

  /// A session without its stores.
  public struct Session: Sendable {
    /// The handle of the session.
    public var handle: SessionHandle
    /// The identity that has opened the session; nil if there are no identities.
    public var owner: String?
    /// The deadline, as in `JournalContents.Session`.
    public var deadline: Duration?
    /// True if it has never had a store.
    public var isEmpty: Bool
    /// The size of the session, as in `JournalContents.Session`.
    public var bytes: Int
    /// True if it has to be restored although no client attaches. There are three reasons: an input
    /// is unsettled; something else may continue; or a client was attached at the end, so that its
    /// stores have not become inactive yet.
    public var continues: Bool

    /// Creates a session.
    public init(
      handle: SessionHandle, owner: String?, deadline: Duration?, isEmpty: Bool, bytes: Int,
      continues: Bool
    ) {
      self.handle = handle
      self.owner = owner
      self.deadline = deadline
      self.isEmpty = isEmpty
      self.bytes = bytes
      self.continues = continues
    }
  }

  /// Creates an empty overview.
  public init() {}
}

extension JournalOverview {
  /// Returns the sessions that one shard owns. The first shard also gets what concerns all shards.
  func part(of place: ShardPlace) -> JournalOverview {
    guard place.count > 1 else { return self }
    var part = self
    part.sessions.removeAll { !place.owns($0.handle) }
    part.setAside.removeAll { !place.owns($0.handle) }
    part.ended.removeAll { !place.owns($0.handle) }
    if place.index > 0 { (part.keptBytes, part.damage) = (0, []) }
    return part
  }

  /// Creates the overview of a journal that was read as a whole.
  public init(_ contents: JournalContents) {
    sessions = contents.sessions.filter { !$0.isSetAside }.map(Session.init)
    setAside = contents.sessions.filter(\.isSetAside)
    ended = contents.ended
    keptBytes = contents.keptBytes
    damage = contents.damage
  }
}

extension JournalOverview.Session {
  fileprivate init(_ session: JournalContents.Session) {
    self.init(
      handle: session.handle, owner: session.owner, deadline: session.deadline,
      isEmpty: session.stores.isEmpty, bytes: session.bytes,
      continues: session.deadline == nil || session.continuesAlone
        || session.stores.contains { !$0.accepted.isEmpty })
  }
}

/// One session that was read from a journal.
public struct LoadedSession: Sendable {
  /// The session; nil if it has ended, or cannot be distinguished from a session that never
  /// existed.
  public var session: JournalContents.Session?
  /// One sentence for each part that cannot be read, for the log.
  public var damage: [String] = []
  /// Sessions that were read or committed before and of which the journal has lost entries; each of
  /// them must be journaled as a whole.
  public var incomplete: Set<SessionHandle> = []

  /// Creates a loaded session without damage.
  public init(session: JournalContents.Session?) { self.session = session }
}
