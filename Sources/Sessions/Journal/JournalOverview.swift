// SPDX-License-Identifier: Apache-2.0

/// The sessions in a journal, without what is in them.
///
/// A start reads no more than this, so it does not take longer with the stores that sessions have.
public struct JournalOverview: Sendable {
  /// In the order in which their work continues.
  public var sessions: [Session] = []
  /// Sessions that are kept as they are and not restored, as a whole, so that the operator's log can name their stores.
  public var setAside: [JournalContents.Session] = []
  /// As in `JournalContents`.
  public var ended: [(handle: SessionHandle, owner: String?)] = []
  /// As in `JournalContents`.
  public var damage: [String] = []

  public struct Session: Sendable {
    public var handle: SessionHandle
    public var owner: String?
    /// As in `JournalContents.Session`.
    public var deadline: Duration?
    /// True if it has never had a store.
    public var isEmpty: Bool
    /// As in `JournalContents.Session`.
    public var bytes: Int
    /// True if it has to be restored although no frontend comes: it has unfinished inputs, or something may continue beside
    /// those, or a frontend was attached at the end, so that its stores do not know that none is now.
    public var continues: Bool

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

  public init() {}
}

extension JournalOverview {
  /// The overview of a journal that was read as a whole.
  public init(_ contents: JournalContents) {
    sessions = contents.sessions.filter { !$0.isSetAside }.map(Session.init)
    setAside = contents.sessions.filter(\.isSetAside)
    ended = contents.ended
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
  /// Nil if it is over, or what is left of it cannot be told from what it never was.
  public var session: JournalContents.Session?
  /// One sentence for each thing that cannot be read, for the operator's log.
  public var damage: [String] = []
  /// Sessions that were read or committed before, and that the journal has lost something of: each is to be written as a
  /// whole.
  public var incomplete: Set<SessionHandle> = []

  public init(session: JournalContents.Session?) { self.session = session }
}
