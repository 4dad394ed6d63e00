// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireProtocol

// Sessions that outlive their connections: found by their handle, and over when their time is.

extension Shard {
  /// Moves a frontend into a session that was opened before, or gives it another name, role or set
  /// of stores in the one where it is.
  ///
  /// - Parameters:
  ///   - request: What it asks for.
  ///   - participant: Its seat until now; it leaves that session if it is another one.
  /// - Returns: Its seat from now on, and how it is brought up to date; it has been told nothing yet.
  /// - Throws: `SessionError`; nothing has changed then, unless a limit was met: stores may have opened.
  public func attach(
    _ request: AttachRequest, from participant: Participant
  ) throws(SessionError) -> (Participant, Resumption) {
    if loader.failure != nil { throw .unreadable }
    expireSessions()
    loadNow(request.handle, of: request.identity)
    let session = try directory.session(request.handle, of: request.identity)
    let opening = request.role == .driver
    for (name, _) in request.revisions {
      try session.checkName(name, opening: opening, isolation: self)
    }
    for (name, _) in request.revisions { _ = try session.storeEntry(name, isolation: self) }
    let named = try request.frontend.map { name throws(SessionError) in
      try session.named(name, self)
    }
    var seat = participant
    if participant.session === session {
      participant.unsubscribeAll()
    } else {
      // Before the old one is left, whose stores may end with it.
      seat = Participant(participant.client, session, named: named, role: request.role)
      participant.session.leave(participant, isolation: self)
    }
    session.sit(seat, as: named, request.role, self)
    // First the stores learn that somebody looks again: what that changes belongs to the answer.
    session.membersChanged()
    return (seat, try resume(seat, request.revisions, named))
  }

  private func resume(
    _ participant: Participant, _ revisions: [(store: String, revision: Revision?)],
    _ named: NamedFrontend?
  ) throws(SessionError) -> Resumption {
    var stores: [Resumption.Store] = []
    for (name, held) in revisions {
      let storeEntry = try participant.session.storeEntry(name, isolation: self)
      if storeEntry.isClosed {
        stores.append(Resumption.Store(name: name, answer: .closed))
        continue
      }
      let subscription = try participant.subscription(name, isolation: self)
      subscription.subscribe(.patch)
      let answer: Resumption.Answer =
        if let held, storeEntry.whyNoReplay(from: held) == nil {
          .replayed(storeEntry.store.revision - held, subscription)
        } else {
          .snapshot(
            storeEntry.whyNoReplay(from: held) ?? SessionAttach.SnapshotReason.none, subscription)
        }
      stores.append(Resumption.Store(name: name, answer: answer))
    }
    return Resumption(stores: stores, sequence: named?.lastSequence)
  }

  /// Ends the sessions that nobody has been attached to for too long.
  ///
  /// To be called about once a second, in a turn: at the end of which a session that could not be written down is
  /// tried again.
  public func expireSessions() {
    while let entry = directory.takeExpired(at: uptime) {
      switch entry {
      case .loaded(let session): end(session)
      case .dormant(let handle): end(dormant: handle)
      }
    }
  }

  /// Ends a session that is not loaded: what is written of it is removed without being read.
  func end(dormant handle: SessionHandle) {
    guard let session = directory.takeDormant(handle) else { return }
    directory.add(ended: handle, of: session.owner)
    commits?.add(.ended, to: handle)
  }

  /// Ends a session that no frontend is attached to.
  func end(_ session: Session) {
    directory.remove(session)
    session.write(.ended)
    session.end(isolation: self)
  }
}
