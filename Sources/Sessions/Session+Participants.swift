// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireProtocol

// The participants of a session: attaching, leaving, eviction and presence.

extension Session {
  /// Gives the session a handle, by which it outlives its connections.
  ///
  /// - Parameters:
  ///   - participant: The participant of the request; the only one if the session has no handle
  ///     yet.
  ///   - name: The frontend's new name; nil for no change.
  ///   - identity: The identity of the client, which becomes the owner of the session; nil if there
  ///     are no identities.
  ///   - shard: The shard of the session.
  /// - Returns: The handle; the same as before if the session has one.
  /// - Throws: `SessionError.limit` or `.unreadable`. This session has not changed then, but a
  ///   session without a client may sleep or have ended in favor of it.
  public func open(
    for participant: Participant, named name: String?, identity: String?,
    isolation shard: isolated Shard
  ) throws(SessionError) -> SessionHandle {
    if handle == nil {
      if shard.loader.failure != nil { throw .unreadable }
      // Expired sessions do not count towards the limits.
      shard.expireSome()
      switch shard.group.census.limit(of: identity, shard.limits) {
      case .sessions:
        guard shard.freePlace(for: identity) else { throw .limit(.sessions) }
      case let limit?:
        guard let identity, shard.sleepOne(of: identity) else { throw .limit(limit) }
      case nil: break
      }
    }
    if let name, name != participant.name { try participant.checkAudiences(named: name) }
    let named = try name.map { name throws(SessionError) in try self.named(name, shard) }
    if handle == nil, let limit = shard.group.census.admit(identity, shard.limits) {
      throw .limit(limit)
    }
    let handle = handle ?? promote(identity, shard, isCounted: true)
    if let named {
      join(participant, as: named, participant.role, shard)
      // The participant that had the name, and is evicted, may have been the only active one.
      participantsChanged()
    }
    return handle
  }

  /// - Parameter isCounted: True if the census has admitted the session.
  func promote(
    _ identity: String?, _ shard: isolated Shard, isCounted: Bool = false
  ) -> SessionHandle {
    owner = identity
    joinIdentityAccount(shard)
    let handle = record?.handle ?? shard.directory.newHandle()
    self.handle = handle
    shard.directory.add(self, handle, isCounted: isCounted)
    keepHistory(maximumBytes: shard.limits.historyBytes)
    journal()
    return handle
  }

  /// Ends the session for all participants.
  ///
  /// - Parameters:
  ///   - participant: The participant of the request, which gets no notification.
  ///   - shard: The shard of the session.
  public func close(by participant: Participant, isolation shard: isolated Shard) {
    shard.directory.remove(self)
    write(.ended)
    let others = participants.filter { $0 !== participant }
    participants.removeAll()
    participant.releaseSubscriptions()
    for other in others {
      other.releaseSubscriptions()
      if let handle { other.connectedClient?.sessionClosed(handle, reason: .closed) }
    }
    end(isolation: shard)
  }

  /// Removes a participant. A session without a handle ends then.
  public func leave(_ participant: Participant, isolation shard: isolated Shard) {
    // Also for a participant that was evicted: its subscriptions must be released.
    defer { participant.releaseSubscriptions() }
    guard let index = participants.firstIndex(where: { $0 === participant }) else { return }
    participants.remove(at: index)
    participant.releaseSubscriptions()
    untrace(participant.client)
    guard handle != nil else { return end(isolation: shard) }
    if let named = participant.named, !named.isWorthRemembering {
      names[ByteString(named.name)] = nil
    }
    announce(participant, .detached)
    if participants.isEmpty {
      expire(after: shard.limits.timeToLive, shard)
    }
    participantsChanged()
  }

  /// Disconnects all clients, because the journal lacks entries of the session. They can attach to
  /// the session as it is journaled.
  func disconnectClients(isolation shard: isolated Shard) {
    for participant in Array(participants) { participant.connectedClient?.lose() }
    guard isOwnerOfShared else { return }
    for shared in shard.sharedStores.values where shared.owner === self {
      for session in shared.users { session.disconnectClients(isolation: shard) }
    }
  }

  /// Sets the deadline of the session after the last participant has left.
  func expire(after time: Duration, _ shard: isolated Shard) {
    let expiry = SessionExpiry(deadline: shard.uptime + time, time: shard.sinceEpoch + time)
    self.expiry = expiry
    shard.directory.changed(self)
    shard.scheduleSleep(of: self)
    write(.expires(at: expiry.time))
    record?.lastClientLeft()
  }

  /// Updates the phase of the session: active while a participant is active.
  func participantsChanged() {
    take(participants.contains { $0.phase == .active } ? .active : .inactive)
  }

  /// Returns the data of a frontend's name, created on first use. The data is removed when the
  /// frontend leaves without an accepted or refused input.
  ///
  /// - Throws: `SessionError.limit`.
  func named(_ name: String, _ shard: isolated Shard) throws(SessionError) -> NamedFrontend {
    if let named = names[ByteString(name)] { return named }
    guard name.utf8.count <= shard.limits.frontendNameBytes else {
      throw .limit(.frontendNameBytes)
    }
    guard names.count < shard.limits.frontendNames else { throw .limit(.frontendNames) }
    let named = NamedFrontend(name: name)
    names[ByteString(name)] = named
    return named
  }

  /// Sets the name and the role of a participant, and adds it to the session if it is new. An older
  /// participant with the same name is evicted.
  func join(
    _ participant: Participant, as named: NamedFrontend?, _ role: FrontendRole,
    _ shard: isolated Shard
  ) {
    if let named,
      let older = participants.first(where: { $0.named === named && $0 !== participant })
    {
      evict(older, shard)
    }
    let isNew = !participants.contains { $0 === participant }
    let hasChanged = participant.named !== named || participant.role != role
    if participant.named !== named { participant.forgetRefused() }
    participant.named = named
    participant.role = role
    if isNew { participants.append(participant) }
    if hasChanged { participant.viewerChanged() }
    if isNew || hasChanged { announce(participant, isNew ? .attached : .role) }
    stopExpiring(shard)
  }

  /// Removes the deadline of the session, because it is in use.
  func stopExpiring(_ shard: isolated Shard) {
    record?.clientAttached()
    guard expiry != nil else { return }
    expiry = nil
    shard.directory.changed(self)
    write(.expires(at: nil))
  }

  func evict(_ participant: Participant, _ shard: isolated Shard) {
    participants.remove(participant)
    participant.releaseSubscriptions()
    untrace(participant.client)
    if let handle { participant.connectedClient?.sessionClosed(handle, reason: .evicted) }
    announce(participant, .detached)
  }

  /// Notifies all participants except the one that has changed.
  private func announce(_ participant: Participant, _ change: SessionPresence.Change) {
    let presence = Presence(
      frontend: participant.name, change: change, role: participant.role,
      attached: participants.count)
    for other in participants where other !== participant {
      other.connectedClient?.presenceChanged(presence)
    }
  }
}

// MARK: - Contents

/// The stores and the participants of a session.
public struct SessionContents {
  /// A store of the session.
  public struct Store {
    /// The name in the session.
    public let name: String
    /// The name of the store kind.
    public let kind: String
    /// The revision of the current state, or of the last state if the store is closed.
    public let revision: Revision
    /// True if the store was closed.
    public let isClosed: Bool
  }

  /// The stores, in the order in which they were opened last.
  public let stores: [Store]
  /// The participants, in the order in which they attached.
  public let participants: [Participant]
}

extension Session {
  /// The stores and the participants of the session.
  public var contents: SessionContents {
    SessionContents(
      stores: entriesInOrder.map { storeEntry in
        SessionContents.Store(
          name: storeEntry.name, kind: storeEntry.kind, revision: storeEntry.store.revision,
          isClosed: storeEntry.isClosed)
      }, participants: Array(participants))
  }
}
