// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireProtocol

// Who is attached to a session: they come, go, are evicted, and hear of each other.

extension Session {
  /// Gives the session a handle, by which it outlives its frontends.
  ///
  /// - Parameters:
  ///   - participant: The frontend that asks; the only one, if the session has no handle yet.
  ///   - name: Its name from now on; nil: as it was.
  ///   - identity: Whom the session belongs to; nil where there are no identities.
  ///   - shard: The shard that the session lives on.
  /// - Returns: The handle; the same as before if it has one.
  /// - Throws: `SessionError.limit` or `.unreadable`; nothing has changed then.
  public func open(
    for participant: Participant, named name: String?, identity: String?,
    isolation shard: isolated Shard
  ) throws(SessionError) -> SessionHandle {
    if handle == nil {
      if shard.loader.failure != nil { throw .unreadable }
      // Those whose time is over are in nobody's way.
      shard.expireSessions()
      if let identity, let maximum = shard.limits.sessionsPerIdentity,
        shard.directory.count(of: identity) >= maximum
      {
        throw .limit(.sessionsPerIdentity)
      }
      if shard.directory.count >= shard.limits.sessions {
        guard let idle = shard.directory.idle(for: identity) else { throw .limit(.sessions) }
        switch idle {
        case .loaded(let session): shard.end(session)
        case .dormant(let handle): shard.end(dormant: handle)
        }
      }
    }
    let named = try name.map { name throws(SessionError) in try self.named(name, shard) }
    let handle = handle ?? promote(identity, shard)
    if let named {
      sit(participant, as: named, participant.role, shard)
      // Whoever had the name may have been the only one who looked.
      membersChanged()
    }
    return handle
  }

  private func promote(_ identity: String?, _ shard: isolated Shard) -> SessionHandle {
    owner = identity
    belongToIdentity(shard)
    let handle = record?.handle ?? shard.directory.newHandle()
    self.handle = handle
    shard.directory.add(self, handle)
    keepHistory(maximumBytes: shard.limits.historyBytes)
    writeDown()
    return handle
  }

  /// Ends the session for all its frontends.
  ///
  /// - Parameters:
  ///   - participant: The one that asks, which knows.
  ///   - shard: The shard that the session lives on.
  public func close(by participant: Participant, isolation shard: isolated Shard) {
    shard.directory.remove(self)
    write(.ended)
    let others = members.filter { $0 !== participant }
    members.removeAll()
    participant.letGo()
    for other in others {
      other.letGo()
      if let handle { other.receiver?.sessionClosed(handle, reason: .closed) }
    }
    end(isolation: shard)
  }

  /// A frontend is gone, or goes.
  public func leave(_ participant: Participant, isolation shard: isolated Shard) {
    // Also one that has lost its place to another: whatever it has still holds it.
    defer { participant.letGo() }
    guard let index = members.firstIndex(where: { $0 === participant }) else { return }
    members.remove(at: index)
    participant.letGo()
    untrace(participant.client)
    guard handle != nil else { return end(isolation: shard) }
    if let named = participant.named, !named.isWorthRemembering {
      names[ByteString(named.name)] = nil
    }
    announce(participant, .detached)
    if members.isEmpty {
      expire(after: shard.limits.timeToLive, shard)
    }
    membersChanged()
  }

  /// What has happened in it cannot be written down: its frontends are to come back to what is.
  func letGo() { for participant in Array(members) { participant.receiver?.cutOff() } }

  /// Nobody is attached; it expires after a time.
  func expire(after time: Duration, _ shard: isolated Shard) {
    deadline = shard.uptime + time
    expiry = shard.sinceEpoch + time
    shard.directory.changed(self)
    write(.expires(at: expiry))
    record?.isLeft()
  }

  /// The session is active while any of its frontends is.
  func membersChanged() {
    take(members.contains { $0.phase == .active } ? .active : .inactive)
  }

  /// What is remembered of a frontend with a name; nothing once it has left without an accepted input.
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

  /// Gives a participant a name and a role, and a place if it has none; the participant that had the name is evicted.
  func sit(
    _ participant: Participant, as named: NamedFrontend?, _ role: FrontendRole,
    _ shard: isolated Shard
  ) {
    if let named, let older = members.first(where: { $0.named === named && $0 !== participant }) {
      evict(older, shard)
    }
    let isNew = !members.contains { $0 === participant }
    let hasChanged = participant.named !== named || participant.role != role
    if participant.named !== named { participant.refused = nil }
    participant.named = named
    participant.role = role
    if isNew { members.append(participant) }
    if isNew || hasChanged { announce(participant, isNew ? .attached : .role) }
    record?.isJoined()
    guard deadline != nil else { return }
    deadline = nil
    expiry = nil
    shard.directory.changed(self)
    write(.expires(at: nil))
  }

  private func evict(_ participant: Participant, _ shard: isolated Shard) {
    members.remove(participant)
    participant.letGo()
    untrace(participant.client)
    if let handle { participant.receiver?.sessionClosed(handle, reason: .evicted) }
    announce(participant, .detached)
  }

  /// Tells all members but the one that has changed.
  private func announce(_ participant: Participant, _ change: SessionPresence.Change) {
    let presence = Presence(
      frontend: participant.name, change: change, role: participant.role, attached: members.count)
    for other in members where other !== participant { other.receiver?.presenceChanged(presence) }
  }
}

// MARK: - What is in it

/// What is in a session, and who is attached.
public struct SessionContents {
  public struct Store {
    public let name: String
    public let kind: String
    public let revision: Revision
    public let isClosed: Bool
  }

  /// In the order in which they were opened.
  public let stores: [Store]
  /// In the order in which they came.
  public let members: [Participant]
}

extension Session {
  /// What is in the session, and who is attached.
  public var contents: SessionContents {
    SessionContents(
      stores: entriesInOrder.map { storeEntry in
        SessionContents.Store(
          name: storeEntry.name, kind: storeEntry.kind, revision: storeEntry.store.revision,
          isClosed: storeEntry.isClosed)
      }, members: Array(members))
  }
}
