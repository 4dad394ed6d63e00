// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON
internal import StatewireProtocol

extension Shard {
  /// Restores all sessions that the process before has journaled, and continues their work. To be called once, before a
  /// client can attach; `beginRestoring` restores them when they are needed.
  ///
  /// Nobody is attached: a session that somebody was attached to has its whole time from now on, and
  /// its stores learn that nobody looks any more.
  ///
  /// - Returns: What could not be brought back, one sentence each, for the operator.
  /// - Throws: What the journal throws if it cannot be read at all.
  public func restore() throws -> [String] {
    guard let commits else { return [] }
    let contents = try commits.load()
    // What a test sees of operations is the same each time, and yet none has the id of an earlier one.
    if testing != nil { commits.epoch = contents.loads }
    var damage = contents.damage
    turn {
      for (handle, owner) in contents.ended { directory.add(ended: handle, of: owner) }
      for session in contents.sessions {
        if session.isSetAside {
          setAside(session, &damage)
        } else if let time = timeLeft(until: session.deadline) {
          restore(session, expiringAt: uptime + time, &damage)
        } else {
          directory.add(ended: session.handle, of: session.owner)
          commits.add(.ended, to: session.handle)
        }
      }
    }
    return damage
  }

  /// How long a session of an earlier process lives from now on, unless a frontend comes; nil if its time is over.
  ///
  /// - Parameter deadline: When it expires, since 1970; nil if a frontend was attached at the end: it has its whole time.
  func timeLeft(until deadline: Duration?) -> Duration? {
    guard let deadline else { return limits.timeToLive }
    let time = deadline - sinceEpoch
    // However the calendar was set meanwhile.
    return time > .zero ? min(time, limits.timeToLive) : nil
  }

  /// Brings back a session.
  ///
  /// - Parameter deadline: When it expires, by `uptime`.
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
    guard let crashes = commits?.crashes else { return session.restore(stored, &damage, self) }
    let work = RestoredWork(stored.handle, crashes)
    restoring = work
    work.perform { session.restore(stored, &damage, self) }
    restoring = nil
    for storeEntry in session.entriesInOrder { watch(storeEntry.number, work) }
    work.partEnded()
  }

  /// Keeps a session in the journal as it is, since its restored work has crashed the process.
  func setAside(_ stored: JournalContents.Session, _ damage: inout [String]) {
    directory.add(setAside: stored.handle, of: stored.owner)
    // Its time stands still: it has all of it when it is restored.
    if stored.deadline != nil { commits?.add(.expires(at: nil), to: stored.handle) }
    let open = stored.stores.filter { !$0.isClosed }.map {
      "\($0.name.quoted()) of kind \($0.kind.quoted())"
    }
    let more = open.count > Self.namedStores ? [", ..."] : []
    // The rest of the handle stays out of logs: a client that has it can attach.
    damage.append(
      """
      the session \(stored.handle.description.prefix(8))... is set aside, since its restored work has crashed the process \
      twice in a row. Its stores: \(open.prefix(Self.namedStores).joined(separator: ", "))\(more.joined()). Upgrade the \
      program, then delete the file crashes in the data folder: the next start restores the session.
      """)
  }

  // So that the log line can be read.
  private static var namedStores: Int { 10 }
}

extension Session {
  fileprivate func restore(
    _ stored: JournalContents.Session, _ damage: inout [String], _ shard: isolated Shard
  ) {
    for (name, last) in stored.sequences {
      names[ByteString(name)] = NamedFrontend(name: name, lastSequence: last)
    }
    belongToIdentity(shard)
    let restored = stored.stores.compactMap { restore($0, &damage, shard) }
    // Once all of them are there, as they were.
    for (storeEntry, store) in restored { resume(storeEntry, store) }
    restart(restored, &damage)
    membersChanged()
  }

  /// Puts a store where it was.
  ///
  /// - Returns: What is to be resumed, if anything is: its store entry, and what was going on.
  private func restore(
    _ stored: JournalContents.Store, _ damage: inout [String], _ shard: isolated Shard
  ) -> (StoreEntry, JournalContents.Store)? {
    do {
      guard !stored.isClosed else {
        takeClosed(stored, shard)
        return nil
      }
      guard let kind = shard.kind(stored.kind) else {
        throw JSONError(.value, "there is no kind \(stored.kind)")
      }
      let opening = StoreOpening(
        stored.name, kind: stored.kind,
        configuration: try JSONValue(parsing: stored.configuration, limits: .stored),
        of: shard.kinds)
      var origin = StoreOrigin(
        revision: stored.revision + 1, lastOperation: stored.highestOperation)
      guard let (state, isWhole) = try stored.foldedState() else {
        // Nothing was written down of what it has shown, so this is another one.
        let content = try content(opening, kind, from: origin, shard)
        take(StoreEntry(name: stored.name, content, account, shard.turnOutcome))
        return nil
      }
      origin.state = state
      guard isWhole else {
        damage.append(
          "\(place(of: stored)): a change of the state cannot be read, nor what came after it")
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
      if let record = slotRecord(storeEntry) { storeEntry.goOn(writingTo: record) }
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

  /// Lets go on what went on in a store beside inputs.
  private func resume(_ storeEntry: StoreEntry, _ stored: JournalContents.Store) {
    storeEntry.store.resume(areSomeLost: stored.lacksInputs)
  }

  /// Lets inputs go on in the order in which they came, whichever store they went to: two may change one
  /// list of the database.
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
        damage.append("\(place(of: stored)): an input cannot be read: \(error)")
      }
    }
    for (storeEntry, stored) in restored {
      for (operation, frontend, sequence) in stored.numbered {
        names[ByteString(frontend)]?.runs(sequence, storeEntry, InputID(rawValue: operation))
      }
    }
  }

  /// Where the inputs are that were not done, in the order in which they came.
  private static func inOrder(
    _ stores: [JournalContents.Store]
  ) -> [(at: Duration, store: Int, index: Int)] {
    var places: [(at: Duration, store: Int, index: Int)] = []
    for (store, stored) in stores.enumerated() {
      // Those of one store as they stand, also where the calendar was set back meanwhile.
      var at = Duration.zero
      for (index, accepted) in stored.accepted.enumerated() {
        at = max(at, accepted.at)
        places.append((at, store, index))
      }
    }
    return places.sorted(by: <)
  }

  /// The handle stays out of logs: whoever has it can attach.
  private func place(of stored: JournalContents.Store) -> String {
    "the store \(stored.name) of a session"
  }
}

extension JournalContents.Store {
  fileprivate var highestOperation: UInt64 {
    max(lastOperation, accepted.map(\.operation).max() ?? 0)
  }

  /// The state after all that was folded; nil if none was written down.
  ///
  /// - Returns: The state, and whether all changes are in it.
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
