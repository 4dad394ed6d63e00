// SPDX-License-Identifier: Apache-2.0

/// The part of a journal that a server reads before its first client.
///
/// Its size does not depend on the number of sessions: each of these is read when it is needed.
public struct JournalStart: Sendable {
  /// The sessions that own a shared store; they are loaded before a store can be shared.
  public var owners: [SessionHandle] = []
  /// The sessions that are set aside, with their stores, so that the log can name the stores.
  public var setAside: [JournalContents.Session] = []
  /// The size of the states that are kept aside, in bytes.
  public var keptBytes = 0
  /// Descriptions of unreadable parts, as in `JournalContents`.
  public var damage: [String] = []

  /// Creates the start of an empty journal.
  public init() {}

  /// Returns true if an owner of a session is the name of an owner of shared stores.
  ///
  /// - Parameter owner: The owner of the session; nil if it has none.
  public static func isOwnerOfShared(_ owner: String?) -> Bool { SharedStore.isOwner(owner) }

  /// Returns what concerns one shard. The first shard also gets what concerns all shards.
  func part(of place: ShardPlace) -> JournalStart {
    guard place.count > 1 else { return self }
    var part = self
    part.owners.removeAll { !place.owns($0) }
    part.setAside.removeAll { !place.owns($0.handle) }
    if place.index > 0 { (part.keptBytes, part.damage) = (0, []) }
    return part
  }
}

/// Some of the sessions of a journal that have to be restored although no client attaches.
///
/// There are three reasons: an input is unsettled; something else may continue; or a client was
/// attached at the end, so that the session has no deadline yet.
public struct ContinuingSessions: Sendable {
  /// The sessions, in the order in which they were opened.
  public var handles: [SessionHandle]
  /// The position after which the next ones are; nil if there are no more.
  public var next: Int64?

  /// Creates a list.
  ///
  /// - Parameters:
  ///   - handles: The sessions.
  ///   - next: The position after which the next ones are; nil if there are no more.
  public init(_ handles: [SessionHandle], next: Int64?) {
    (self.handles, self.next) = (handles, next)
  }
}

/// One session that was read from a journal.
public struct LoadedSession: Sendable {
  /// The session; nil if it has ended, or cannot be distinguished from a session that never
  /// existed.
  public var session: JournalContents.Session?
  /// The session that has ended; nil if it has not, or if that is not known any more.
  public var ended: Ended?
  /// The parts that cannot be read, each as one sentence for the log.
  public var damage: [String] = []
  /// Sessions that were read or committed before and of which the journal has lost entries; each of
  /// them must be journaled as a whole.
  public var incomplete: Set<SessionHandle> = []

  /// A session that has ended.
  public struct Ended: Sendable, Equatable {
    /// The identity that had opened it; nil if there were no identities.
    public let owner: String?

    /// Creates the description of an ended session.
    ///
    /// - Parameter owner: The identity that had opened it.
    public init(owner: String?) { self.owner = owner }
  }

  /// Creates a loaded session without damage.
  ///
  /// - Parameters:
  ///   - session: The session; nil if there is none.
  ///   - ended: The session that has ended; nil if it has not.
  public init(session: JournalContents.Session?, ended: Ended? = nil) {
    (self.session, self.ended) = (session, ended)
  }
}
