// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON
internal import StatewireProtocol

extension Shard {
  /// Restores all sessions that the previous process has journaled, and continues their work. It is
  /// called once, before a client can attach; `beginRestoring` restores sessions when they are
  /// needed.
  ///
  /// No client is attached afterwards. A session to which a client was attached has its whole time
  /// to live from now on, and its stores become inactive.
  ///
  /// - Returns: One sentence for each part that could not be restored, for the log.
  /// - Throws: The error of the journal if it cannot be read at all.
  public func restore() throws -> [String] {
    guard let commits else { return [] }
    let contents = try commits.load()
    // The ids of operations are the same in each run of a test, and yet different from those of
    // earlier processes.
    if testing != nil { commits.epoch = contents.loads }
    var damage = contents.damage
    turn {
      for (handle, owner) in contents.ended { directory.add(ended: handle, of: owner) }
      // The users of shared stores need them.
      let owners = contents.sessions.filter { SharedStore.isOwner($0.owner) }
      for session in owners + contents.sessions.filter({ !SharedStore.isOwner($0.owner) }) {
        if session.isSetAside {
          setAside(session, &damage)
        } else if let time = timeLeft(until: session.deadline, owner: session.owner) {
          restore(session, expiringAt: uptime + time, &damage)
        } else {
          directory.add(ended: session.handle, of: session.owner)
          commits.add(.ended, to: session.handle)
        }
      }
    }
    return damage
  }

  /// Returns the time to live of a session of an earlier process from now on; nil if it has
  /// expired.
  ///
  /// - Parameters:
  ///   - deadline: The deadline since 1970; nil if a client was attached at the end, which gives the
  ///     session its whole time to live.
  ///   - owner: The owner of the session.
  func timeLeft(until deadline: Duration?, owner: String?) -> Duration? {
    // The time for which a shared store is kept is that of its kind, which is not known yet.
    let whole = SharedStore.isOwner(owner) ? StoreScope.longestTime : limits.timeToLive
    guard let deadline else { return whole }
    let time = deadline - sinceEpoch
    // The minimum limits the effect of a changed calendar.
    return time > .zero ? min(time, whole) : nil
  }

  /// Restores a session.
  ///
  /// - Parameter deadline: The time at which it expires, by `uptime`.
  func restore(
    _ stored: JournalContents.Session, expiringAt deadline: Duration, _ damage: inout [String]
  ) {
    let session = Session(
      handle: stored.handle, owner: stored.owner,
      phase: stored.deadline == nil ? .active : .inactive, isolation: self)
    session.record?.continuesAlone = stored.continuesAlone
    session.record?.bytes = stored.bytes
    directory.add(session, stored.handle)
    session.expire(after: deadline - uptime, self)
    defer { if session.isOwnerOfShared { addShared(of: session) } }
    guard let crashes = commits?.crashes else { return session.restore(stored, &damage, self) }
    let work = RestoredWork(stored.handle, crashes)
    restoring = work
    work.perform { session.restore(stored, &damage, self) }
    restoring = nil
    for storeEntry in session.entriesInOrder { watch(storeEntry.number, work) }
    work.partEnded()
  }

  /// Keeps a session in the journal without restoring it, because its restored work has crashed the
  /// process.
  func setAside(_ stored: JournalContents.Session, _ damage: inout [String]) {
    directory.add(setAside: stored.handle, of: stored.owner)
    if let owner = stored.owner, SharedStore.isOwner(owner) {
      for store in stored.stores {
        unusableShared.insert(
          SharedStore.Key(
            kind: ByteString(store.kind), name: ByteString(store.name), owner: ByteString(owner)))
      }
    }
    // The session does not expire meanwhile; it has its whole time to live when it is restored.
    if stored.deadline != nil { commits?.add(.expires(at: nil), to: stored.handle) }
    let open = stored.stores.filter { !$0.isClosed }.map {
      "\($0.name.quoted()) of kind \($0.kind.quoted())"
    }
    let more = open.count > Self.namedStores ? [", ..."] : []
    // Logs do not contain the whole handle, because it is a secret: any client that has it can
    // attach.
    damage.append(
      """
      the session \(stored.handle.description.prefix(8))... is set aside, because its restored work has crashed the process \
      twice in a row. Its stores: \(open.prefix(Self.namedStores).joined(separator: ", "))\(more.joined()). Upgrade the \
      program, then delete the file crashes in the data folder: the next start restores the session.
      """)
  }

  // A limit for the length of the log line.
  private static var namedStores: Int { 10 }
}

extension Session {
  fileprivate func restore(
    _ stored: JournalContents.Session, _ damage: inout [String], _ shard: isolated Shard
  ) {
    for (name, last) in stored.sequences {
      names[ByteString(name)] = NamedFrontend(name: name, lastSequence: last)
    }
    joinIdentityAccount(shard)
    let restored = stored.stores.compactMap { restore($0, &damage, shard) }
    // Called after all stores have been restored.
    for (storeEntry, store) in restored { resume(storeEntry, store) }
    restart(restored, &damage)
    participantsChanged()
  }

  /// Restores a store.
  ///
  /// - Returns: The store entry and the journaled store whose work is to be resumed; nil if there
  ///   is nothing to resume.
  private func restore(
    _ stored: JournalContents.Store, _ damage: inout [String], _ shard: isolated Shard
  ) -> (StoreEntry, JournalContents.Store)? {
    do {
      guard !stored.isClosed else {
        takeClosed(stored, shard)
        return nil
      }
      guard let kind = shard.kind(stored.kind) else {
        throw JSONError(.value, "there is no store kind \(stored.kind)")
      }
      let opening = StoreOpening(
        stored.name, kind: stored.kind,
        configuration: try JSONValue(parsing: stored.configuration, limits: .stored),
        of: shard.kinds)
      if case .shared(let sharing, let time) = kind.scope, !isOwnerOfShared {
        let key = SharedStore.Key(kind, sharing, name: stored.name, identity: identity)
        use(
          try shard.sharedStore(key, opening, keptFor: time, by: Viewer(identity: identity)), shard)
        return nil
      }
      var origin = StoreOrigin(
        revision: stored.revision + 1, lastOperation: stored.highestOperation)
      guard let (state, isWhole) = try stored.foldedState() else {
        // The state was never journaled, so a new store is created.
        let content = try content(opening, kind, from: origin, shard)
        take(StoreEntry(name: stored.name, content, account, shard.turnOutcome))
        return nil
      }
      origin.state = state
      guard isWhole else {
        damage.append(
          "\(place(of: stored)): cannot read a change of the state; it and later ones are lost")
        let content = try content(opening, kind, from: origin, shard)
        let storeEntry = StoreEntry(name: stored.name, content, account, shard.turnOutcome)
        take(storeEntry)
        var rest = stored
        rest.accepted = []
        rest.numbered = []
        rest.lacksInputs = true
        return (storeEntry, rest)
      }
      origin.revision = stored.revision
      let storeEntry = StoreEntry(
        stored, try content(opening, kind, from: origin, shard),
        account, historyBytes: shard.limits.historyBytes, shard.turnOutcome)
      take(restored: storeEntry)
      if let record = storeEntryRecord(storeEntry) { storeEntry.goOn(writingTo: record) }
      return (storeEntry, stored)
    } catch {
      damage.append("\(place(of: stored)) is closed: \(error)")
      var closed = stored
      closed.isClosed = true
      takeClosed(closed, shard)
      write(.store(stored.name, .closed))
      return nil
    }
  }

  private func takeClosed(_ stored: JournalContents.Store, _ shard: isolated Shard) {
    let content = StoreEntry.Content(
      kind: stored.kind, sharedConfiguration: nil, number: shard.nextNumber(),
      made: StoreKind.Made(
        closed: ClosedStore(revision: stored.revision, lastOperation: stored.highestOperation)),
      faults: nil, isDurable: false)
    take(
      restored: StoreEntry(
        stored, content, account, historyBytes: shard.limits.historyBytes, shard.turnOutcome))
  }

  /// Resumes work of a store that does not belong to inputs.
  private func resume(_ storeEntry: StoreEntry, _ stored: JournalContents.Store) {
    storeEntry.store.resume(areSomeLost: stored.lacksInputs)
  }

  /// Restarts inputs in the order in which they arrived, also across stores, because two inputs may
  /// change the same list of the database.
  private func restart(
    _ restored: [(StoreEntry, JournalContents.Store)], _ damage: inout [String]
  ) {
    let now = clock.sinceEpoch
    for (_, store, index) in Self.inOrder(restored.map(\.1)) {
      let (storeEntry, stored) = restored[store]
      let accepted = stored.accepted[index]
      do throws(JSONError) {
        try storeEntry.store.restart(
          AcceptedInput(
            operation: accepted.operation, epoch: accepted.epoch, input: accepted.input ?? [],
            age: max(.zero, now - accepted.at)))
      } catch {
        damage.append("\(place(of: stored)): cannot read an input, which is dropped: \(error)")
      }
    }
    for (storeEntry, stored) in restored {
      for (operation, frontend, sequence) in stored.numbered {
        names[ByteString(frontend)]?.runs(sequence, storeEntry, InputID(rawValue: operation))
      }
    }
  }

  /// Returns the places of the unsettled inputs, in the order in which they arrived.
  private static func inOrder(
    _ stores: [JournalContents.Store]
  ) -> [(at: Duration, store: Int, index: Int)] {
    var places: [(at: Duration, store: Int, index: Int)] = []
    for (store, stored) in stores.enumerated() {
      // Inputs of one store keep their order, also if the calendar was set back meanwhile.
      var at = Duration.zero
      for (index, accepted) in stored.accepted.enumerated() {
        at = max(at, accepted.at)
        places.append((at, store, index))
      }
    }
    return places.sorted(by: <)
  }

  /// Returns a name of the store for the log, without the handle, which is a secret.
  private func place(of stored: JournalContents.Store) -> String {
    "the store \(stored.name) of a session"
  }
}

extension JournalContents.Store {
  fileprivate var highestOperation: UInt64 {
    max(lastOperation, accepted.map(\.operation).max() ?? 0)
  }

  /// Returns the state after all folded actions; nil if none was journaled.
  ///
  /// - Returns: The state, and true if it includes all changes.
  fileprivate func foldedState() throws(JSONError) -> (JSONValue, isWhole: Bool)? {
    guard let state else { return nil }
    var folded = try JSONValue(parsing: state, limits: .stored)
    do throws(JSONError) {
      for text in patches {
        let patch = try JSONPatch(JSONValue(parsing: text, limits: .stored))
        folded = try patch.apply(to: folded, limits: .stored)
      }
      return (folded, true)
    } catch {
      return (folded, false)
    }
  }
}
