// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// A session without a client and without work leaves the memory. Its journal entries stay, and the
// next client that attaches loads it again (Shard+Loading). On a node among others it is also given
// up, so that any node can load it.

extension Shard {
  /// Ends sessions whose time is over, puts others to sleep, and restores those with work to continue;
  /// to be called about once a second.
  public func sweepSessions() {
    turn {
      expireSessions(limit: Self.sessionsPerSweep)
      sleepDue()
    }
    continueSessions()
  }

  /// Schedules the sleep of a session whose last client has left.
  func scheduleSleep(of session: Session) {
    guard let time = limits.sleepAfter, commits != nil, testing == nil, let handle = session.handle,
      let deadline = session.deadline
    else { return }
    sleepQueue.add(.init(due: uptime + time, handle: handle, deadline: deadline))
    guard sleepQueue.count > 2 * directory.count + 100 else { return }
    let directory = directory
    sleepQueue.removeAll { directory.session(of: $0) == nil }
  }

  /// Puts sessions to sleep that have been without a client for long enough.
  func sleepDue() {
    let now = uptime
    var sleeping: [Session] = []
    var count = 0
    while count < Self.sessionsPerSweep, let entry = sleepQueue.takeDue(at: now) {
      guard let session = directory.session(of: entry) else { continue }
      count += 1
      if canSleep(session) { sleeping.append(session) } else { scheduleSleep(of: session) }
    }
    sleep(sleeping)
  }

  /// Puts one session to sleep now, the one that was left first, so that another one has its place.
  ///
  /// - Parameter identity: The identity that has opened it; nil for any session.
  /// - Returns: False if none of them can sleep.
  func sleepOne(of identity: String? = nil) -> Bool {
    let identity = ByteString(identity)
    let sessions = sleepQueue.oldestFirst.lazy.compactMap { [directory] in directory.session(of: $0)
    }
    .filter { identity == nil || ByteString($0.owner) == identity }
    guard let session = sessions.prefix(Self.sessionsPerSweep).first(where: canSleep) else {
      return false
    }
    sleep([session])
    return true
  }

  /// Makes a place for a session that is loaded, if that is possible; it is loaded in any case.
  func makePlace(for owner: String?) {
    switch group.census.limit(of: owner, limits) {
    case nil: break
    case .sessions: _ = sleepOne()
    default: if let owner { _ = sleepOne(of: owner) }
    }
  }

  /// Removes sessions from memory whose entries are in the journal.
  func sleep(_ sessions: [Session]) {
    let handles = sessions.compactMap(\.handle)
    guard !handles.isEmpty, let commits else { return }
    for session in sessions { unload(session) }
    guard ownership != nil else { return commits.forget(handles) }
    loader.releasing.formUnion(handles)
    commits.release(handles) { [group, place, handles] in
      group.member(place.index)?.turn { $0.loader.releasing.subtract(handles) }
    }
  }

  /// Returns true if a session would be the same after it was loaded again.
  private func canSleep(_ session: Session) -> Bool {
    session.isInJournal(self) && session.isFullyRecorded
  }

  /// A turn is short also if all clients leave at the same time.
  private static var sessionsPerSweep: Int { 1000 }
}

extension SessionDirectory {
  /// Returns the session of an entry; nil if a client has attached to it since, or if it has ended.
  fileprivate func session(of entry: SleepQueue.Entry) -> Session? {
    self[entry.handle].flatMap { $0.deadline == entry.deadline ? $0 : nil }
  }
}

extension Session {
  /// True if no client is attached, and all entries of the session are in the journal.
  func isInJournal(_ shard: isolated Shard) -> Bool {
    guard let record, handle != nil, participants.isEmpty, !record.isIncomplete else {
      return false
    }
    return shard.commits?.hasEnded(record.lastCommit) ?? false
  }

  /// True if the session has no work, and nothing that the journal does not have.
  ///
  /// A session that owns or uses a shared store does not sleep: the store counts its users.
  fileprivate var isFullyRecorded: Bool {
    guard let record, !record.continuesAlone, !isOwnerOfShared, sharedStores.count == 0 else {
      return false
    }
    return names.values.allSatisfy(\.isFullyRecorded)
      && entriesInOrder.allSatisfy { $0.isClosed || $0.isDurable && $0.store.isFullyRecorded }
  }
}
