// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireProtocol

// Sessions that outlive their connections: attaching by a handle, and expiry.

extension Shard {
  /// Moves a client into an existing session, or changes its name, role or subscriptions in its
  /// present session.
  ///
  /// - Parameters:
  ///   - request: The parameters of the request.
  ///   - participant: The client's present participant. If the session is another one, the
  ///     participant leaves its session.
  /// - Returns: The client's new participant, and the data that brings the client up to date, of
  ///   which nothing has been sent yet.
  /// - Throws: `SessionError`; nothing has changed then, unless a limit was exceeded: stores may
  ///   have been opened.
  public func attach(
    _ request: AttachRequest, from participant: Participant
  ) throws(SessionError) -> (Participant, Resumption) {
    if loader.failure != nil { throw .unreadable }
    expireSome()
    expire(request.handle)
    loadNow(request.handle)
    let session = try session(request.handle, of: request.identity)
    let opening = request.role == .driver
    for (name, _) in request.revisions {
      try session.checkName(name, opening: opening, isolation: self)
    }
    let viewer = Viewer(
      identity: request.identity, name: request.frontend, role: opening ? .driver : .observer)
    for (name, _) in request.revisions {
      let storeEntry = try session.storeEntry(name, viewer: viewer, isolation: self)
      if let refusal = storeEntry.refusing?(.subscribe, viewer) { throw .forbidden(refusal) }
    }
    let named = try request.frontend.map { name throws(SessionError) in
      try session.named(name, self)
    }
    if !request.evicts, named != nil,
      session.participants.contains(where: { $0.named === named && $0 !== participant })
    {
      throw .nameInUse
    }
    var attached = participant
    if participant.session === session {
      participant.unsubscribeAll()
    } else {
      // The new participant is created before the present one leaves, because the stores of the
      // present session may end with it.
      attached = Participant(participant.client, session, named: named, role: request.role)
      participant.session.leave(participant, isolation: self)
    }
    session.join(attached, as: named, request.role, self)
    // The phase changes first: changes of stores that become active belong to the response.
    session.participantsChanged()
    return (attached, try resume(attached, request.revisions, named))
  }

  private func resume(
    _ participant: Participant, _ revisions: [(store: String, revision: Revision?)],
    _ named: NamedFrontend?
  ) throws(SessionError) -> Resumption {
    var stores: [Resumption.Store] = []
    for (name, held) in revisions {
      let storeEntry = try participant.session.storeEntry(name, isolation: self)
      if storeEntry.isClosed {
        stores.append(
          Resumption.Store(
            name: name, outcome: .closed, cause: nil, keptAside: storeEntry.renewal.keptAside))
        continue
      }
      let subscription = try participant.subscription(name, isolation: self)
      subscription.subscribe(.patch)
      let first = participant.session.sharedStores[name]?.first(of: participant.session) ?? 0
      let isOfFormer = held.map { $0 < first } ?? false
      let reason = isOfFormer ? .reopened : subscription.snapshotReason(from: held, named)
      let outcome: Resumption.Outcome =
        if let held, reason == nil {
          .replayed(subscription.updates(since: held), subscription)
        } else {
          .snapshot(reason ?? SessionAttach.SnapshotReason.none, subscription)
        }
      participant.remember(subscription)
      stores.append(
        Resumption.Store(
          name: name, outcome: outcome, cause: reason == .reopened ? storeEntry.renewal.cause : nil,
          keptAside: storeEntry.renewal.keptAside))
    }
    return Resumption(stores: stores, sequence: named?.lastSequence)
  }

  /// Ends sessions whose time to live has passed, the earliest first.
  ///
  /// - Parameter limit: The most sessions that are ended.
  func expireSessions(limit: Int = .max) {
    for _ in 0..<limit {
      guard let session = directory.takeExpired(at: uptime) else { return }
      end(session)
    }
  }

  /// Ends some of the sessions whose time to live has passed, so that they do not count towards the
  /// limits. Few, because a client waits; `sweepSessions` ends the others.
  func expireSome() { expireSessions(limit: 100) }

  /// Ends a session whose time to live has passed.
  private func expire(_ text: String) {
    guard let session = SessionHandle(text).flatMap({ directory[$0] }),
      let deadline = session.deadline, deadline <= uptime
    else { return }
    end(session)
  }

  /// Returns the loaded session with a handle.
  private func session(
    _ text: String, of identity: String?
  ) throws(SessionError) -> Session {
    do throws(SessionError) {
      return try directory.session(text, of: identity)
    } catch {
      // The journal may have it.
      if case .unknownSession = error, let handle = SessionHandle(text),
        loader.hasFailed(handle, at: uptime)
      {
        throw .unreadable
      }
      throw error
    }
  }

  /// Makes a place for one more session: puts a session without a client to sleep, or ends the one
  /// that `SessionDirectory.idle` selects.
  ///
  /// - Returns: False if all sessions have a client.
  func freePlace(for owner: String?) -> Bool {
    if sleepOne() { return true }
    guard let session = directory.idle(for: owner) else { return false }
    end(session)
    return true
  }

  /// Ends a session without a participant.
  func end(_ session: Session) {
    directory.remove(session)
    session.write(.ended)
    session.end(isolation: self)
  }
}

extension StoreRenewal {
  /// The cause that a client receives which holds an earlier revision; nil if a client has opened
  /// the store again.
  fileprivate var cause: SessionAttach.ReopeningCause? {
    switch self {
    case .opened: nil
    case .migrated: .migrated
    case .restored: .restored
    case .unreadable: .unreadable
    }
  }

  /// The state that could not be read; nil for other reasons.
  var keptAside: Resumption.KeptAside? {
    guard case .unreadable(let revision, let reason) = self else { return nil }
    return Resumption.KeptAside(revision: revision, reason: reason)
  }
}
