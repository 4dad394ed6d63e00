// SPDX-License-Identifier: Apache-2.0

/// What the turn in hand has done to sessions that are written down, on its way to the journal.
///
/// All of it is committed in one piece before any byte of the turn is written. If that fails, nothing
/// of what the turn has written may go out, and the journal is behind: it knows the session as it was
/// before, which is what frontends have seen. Such a session is written anew as a whole before
/// anything else of it goes out, so that the journal never has a gap.
final class TurnRecord {
  private let journal: any SessionJournal
  private let failed: (any Error) -> Void
  private var entries: [JournalEntry] = []
  /// Whether something of the turn in hand could not be written down.
  private var hasFailed = false
  /// The sessions that are ahead of the journal.
  private var unwritten: Set<SessionHandle> = []

  /// - Parameter failed: Told of each commit that has failed.
  init(_ journal: any SessionJournal, failed: @escaping (any Error) -> Void) {
    self.journal = journal
    self.failed = failed
  }

  func load() throws -> JournalContents { try journal.load() }

  /// Adds what has happened to a session.
  func add(_ event: JournalEntry.Event, to session: SessionHandle) {
    // It will be written as a whole.
    if !unwritten.isEmpty, event != .ended, unwritten.contains(session) { return }
    entries.append(JournalEntry(session, event))
  }

  /// Commits what has been done.
  /// - Returns: Whether all that the turn has done until now is written down.
  @discardableResult
  func commit() -> Bool {
    guard !entries.isEmpty else { return !hasFailed }
    do {
      try journal.commit(entries)
      // A session that is over is nobody's any more, whatever is missing of it.
      if !unwritten.isEmpty {
        for entry in entries where entry.event == .ended { unwritten.remove(entry.session) }
      }
    } catch {
      hasFailed = true
      for entry in entries {
        // A session that is over comes back with the process, as it was, and expires.
        if entry.event == .ended {
          unwritten.remove(entry.session)
        } else {
          unwritten.insert(entry.session)
        }
      }
      failed(error)
    }
    entries.removeAll(keepingCapacity: entries.count <= Self.keptEntries)
    return !hasFailed
  }

  /// Commits what has been done, and a session as a whole that is ahead of the journal.
  ///
  /// - Returns: Whether what the turn has written for a frontend of the session may go out.
  func commit(for session: Session) -> Bool {
    guard commit() else { return false }
    guard !unwritten.isEmpty, let handle = session.handle, !session.isEnded,
      unwritten.remove(handle) != nil
    else { return true }
    session.writeDown()
    return commit()
  }

  /// The turn is over.
  func turnEnded() {
    commit()
    hasFailed = false
  }

  // What one large turn has needed is given back.
  private static var keptEntries: Int { 1024 }
}
