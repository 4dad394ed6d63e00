// SPDX-License-Identifier: Apache-2.0

// The reference for the reading methods of `SessionJournal`, for journals in memory.

extension JournalContents {
  /// The result of `SessionJournal.start` for these contents.
  package var start: JournalStart {
    var start = JournalStart()
    start.owners = sessions.filter { !$0.isSetAside && SharedStore.isOwner($0.owner) }.map(\.handle)
    start.setAside = sessions.filter(\.isSetAside)
    start.keptBytes = keptBytes
    start.damage = damage
    return start
  }

  /// Returns the result of `SessionJournal.load` for a session.
  package func loaded(_ handle: SessionHandle) -> LoadedSession {
    LoadedSession(
      session: sessions.first { $0.handle == handle },
      ended: ended.last { $0.handle == handle }.map { LoadedSession.Ended(owner: $0.owner) })
  }

  /// Returns the result of `SessionJournal.continuing`.
  package func continuing(after position: Int64?, limit: Int) -> ContinuingSessions {
    let first = Int(position ?? 0)
    let rest = sessions.enumerated().dropFirst(first).filter { $0.element.isContinuing }
    let some = rest.prefix(limit)
    return ContinuingSessions(
      some.map(\.element.handle),
      next: some.count < rest.count ? some.last.map { Int64($0.offset + 1) } : nil)
  }

  /// Returns the sessions that `SessionJournal.endExpired` ends, if none is loaded.
  package func expired(at time: Duration, limit: Int) -> [SessionHandle] {
    let expired = sessions.filter { session in session.deadline.map { $0 <= time } ?? false }
    return expired.sorted { $0.deadline ?? .zero < $1.deadline ?? .zero }.prefix(limit).map(
      \.handle)
  }
}

extension JournalContents.Session {
  /// True if it has to be restored although no client attaches; see `ContinuingSessions`.
  fileprivate var isContinuing: Bool {
    !isSetAside
      && (deadline == nil || continuesAlone || stores.contains { !$0.accepted.isEmpty })
  }
}
