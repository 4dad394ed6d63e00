// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON
internal import StatewireProtocol

// Restoring the stores of a session. All states are read first: a state that cannot be read is kept
// aside, and if there is no room for it, the session is not restored.

extension Session {
  /// Takes the stores that `read` has read, and continues their work.
  func restore(
    _ stored: JournalContents.Session, _ stores: [RestoredStore], _ damage: inout [String],
    _ shard: isolated Shard
  ) {
    for (name, last) in stored.sequences {
      names[ByteString(name)] = NamedFrontend(name: name, lastSequence: last)
    }
    let kept = stores.compactMap(\.kept)
    if !kept.isEmpty { record?.keepAside(kept) }
    let restored = stores.compactMap { take($0, &damage, shard) }
    // Called after all stores have been restored.
    for (storeEntry, store) in restored { resume(storeEntry, store) }
    restart(restored, &damage)
    participantsChanged()
  }

  /// Reads the states of a session.
  ///
  /// - Returns: Nil if a state would have to be kept aside for which there is no room; nothing has
  ///   changed then.
  func read(
    _ stored: JournalContents.Session, _ shard: isolated Shard
  ) -> [RestoredStore]? {
    var stores: [RestoredStore] = []
    let before = shard.group.keptBytes
    var keptBytes = before
    for store in stored.stores {
      let read = read(store, room: shard.limits.keptBytes - keptBytes, shard)
      guard let read else {
        for store in stores { if let content = store.content { shard.close(content.number) } }
        return nil
      }
      keptBytes += read.kept?.state.count ?? 0
      stores.append(read)
    }
    shard.group.add(keptBytes: keptBytes - before)
    return stores
  }

  private func read(
    _ stored: JournalContents.Store, room: Int, _ shard: isolated Shard
  ) -> RestoredStore? {
    var restored = RestoredStore(stored: stored)
    guard !stored.isClosed else { return restored }
    let fault = sharingFault(of: stored, shard)
    if fault == nil, sharing(shard.kind(stored.kind), name: stored.name) != nil { return restored }
    var state: JSONValue?
    let reason: JSONError
    do throws(JSONError) {
      if let (folded, isWhole) = try stored.foldedState() {
        state = folded
        restored.areChangesLost = !isWhole
      }
      if let fault { throw fault }
      restored.content = try content(of: stored, in: state, restored.areChangesLost, shard)
      return restored
    } catch {
      reason = error
    }
    restored.error = reason
    guard let text = stored.state, let session = handle else { return restored }
    let bytes = state?.bytes ?? text
    guard bytes.count <= room else { return nil }
    restored.kept = KeptState(
      session: session, owner: owner, store: stored.name, kind: stored.kind,
      configuration: stored.configuration, version: stored.version, revision: stored.revision,
      state: bytes, reason: "\(reason)", time: clock.sinceEpoch)
    if fault == nil { restored.content = try? content(of: stored, in: nil, false, shard) }
    return restored
  }

  /// Returns the reason why a store cannot continue, if sessions share the stores of its kind only now,
  /// or do not share them any more. A session that uses a shared store has no state of it.
  private func sharingFault(
    of stored: JournalContents.Store, _ shard: isolated Shard
  ) -> JSONError? {
    guard let kind = shard.kind(stored.kind), kind.isShared != isOwnerOfShared,
      isOwnerOfShared || stored.state != nil
    else { return nil }
    let isNow = kind.isShared ? "are shared by sessions now" : "are not shared by sessions any more"
    return JSONError(.value, "the stores of the kind \(stored.kind.quoted()) \(isNow)")
  }

  /// Creates the store that continues a journaled one.
  ///
  /// - Parameter state: The folded state; nil for the initial state.
  private func content(
    of stored: JournalContents.Store, in state: JSONValue?, _ areChangesLost: Bool,
    _ shard: isolated Shard
  ) throws(JSONError) -> StoreEntry.Content {
    guard let kind = shard.kind(stored.kind) else {
      throw JSONError(.value, "there is no store kind \(stored.kind.quoted())")
    }
    if state == nil, kind.requiresPreparation {
      throw JSONError(.value, "the journal has no state of the store")
    }
    let opening = StoreOpening(
      stored.name, kind: stored.kind,
      configuration: try JSONValue(parsing: stored.configuration, limits: .stored),
      of: shard.kinds)
    let isContinued = state != nil && !areChangesLost
    let origin = StoreOrigin(
      revision: isContinued ? stored.revision : stored.revision + 1,
      lastOperation: stored.highestOperation, state: state, version: stored.version)
    return try content(opening, kind, from: origin, shard)
  }

  /// Takes a store that was read.
  ///
  /// - Returns: The store entry and the journaled store whose work is to be resumed; nil if there
  ///   is nothing to resume.
  private func take(
    _ restored: RestoredStore, _ damage: inout [String], _ shard: isolated Shard
  ) -> (StoreEntry, JournalContents.Store)? {
    var stored = restored.stored
    if let error = restored.error { damage.append(sentence(about: restored, error)) }
    if let kept = restored.kept {
      stored.renewal = .unreadable(revision: kept.revision, reason: kept.reason)
    }
    if !stored.isClosed, restored.error == nil,
      let (key, time) = sharing(shard.kind(stored.kind), name: stored.name)
    {
      do {
        try share(stored, key, keptFor: time, shard)
        return nil
      } catch {
        damage.append("\(place(of: stored)) is closed: \(error)")
      }
    }
    guard let content = restored.content else {
      if !stored.isClosed {
        if restored.kept != nil {
          // The reason is journaled with the opening.
          stored.revision += 1
          write(
            .store(
              stored.name,
              .opened(
                kind: stored.kind, configuration: stored.configuration, revision: stored.revision,
                version: stored.version, renewal: stored.renewal)))
        }
        stored.isClosed = true
        write(.store(stored.name, .closed))
      }
      takeClosed(stored, shard)
      return nil
    }
    if restored.kept != nil || stored.state == nil || restored.areChangesLost {
      let storeEntry = StoreEntry(
        name: stored.name, content, account, shard.turnOutcome,
        renewal: restored.kept == nil ? .opened : stored.renewal)
      take(storeEntry, shard)
      guard restored.areChangesLost, restored.kept == nil else { return nil }
      damage.append(
        "\(place(of: stored)): cannot read a change of the state; it and later ones are lost")
      stored.accepted = []
      stored.numbered = []
      stored.lacksInputs = true
      return (storeEntry, stored)
    }
    let isRenewed = content.made.store.revision != stored.revision
    if isRenewed {
      // Clients that have an earlier revision receive a snapshot.
      stored.revision = content.made.store.revision
      (stored.opened, stored.renewal, stored.frames) = (stored.revision, .migrated, [])
    }
    let storeEntry = StoreEntry(
      stored, content, account, historyBytes: shard.limits.historyBytes, shard.turnOutcome)
    take(restored: storeEntry)
    if let record = storeEntryRecord(storeEntry) {
      storeEntry.continueJournaling(in: record, renewed: isRenewed)
    }
    return (storeEntry, stored)
  }

  /// Uses a shared store again.
  private func share(
    _ stored: JournalContents.Store, _ key: SharedStore.Key, keptFor time: Duration,
    _ shard: isolated Shard
  ) throws {
    let opening = StoreOpening(
      stored.name, kind: stored.kind,
      configuration: try JSONValue(parsing: stored.configuration, limits: .stored),
      of: shard.kinds)
    let isOpen = try shard.isOpen(key)
    guard isOpen || !opening.isUnprepared else {
      throw JSONError(.value, "the shared store does not exist any more")
    }
    let shared = try shard.sharedStore(key, opening, keptFor: time, by: Viewer(identity: identity))
    // The last revision that the clients hold of a store that has ended is not known.
    use(shared, from: isOpen ? stored.opened : .max / 2, shard)
  }

  private func sentence(about restored: RestoredStore, _ error: JSONError) -> String {
    let place = place(of: restored.stored)
    guard let kept = restored.kept else { return "\(place) is closed: \(error)" }
    let end = restored.content == nil ? "is closed" : "opens in its initial state"
    return """
      \(place): the state of version \(kept.version) at revision \(kept.revision) cannot be read and is kept aside; the store \
      \(end): \(error)
      """
  }

  private func takeClosed(_ stored: JournalContents.Store, _ shard: isolated Shard) {
    let content = StoreEntry.Content(
      kind: shard.served(stored.kind), sharedConfiguration: nil, number: shard.nextNumber(),
      made: StoreKind.Made(
        closed: ClosedStore(revision: stored.revision, lastOperation: stored.highestOperation)),
      faults: nil, isDurable: false)
    take(
      restored: StoreEntry(
        stored, content, account, historyBytes: shard.limits.historyBytes, shard.turnOutcome))
  }

  /// Resumes work of a store that does not belong to inputs.
  private func resume(_ storeEntry: StoreEntry, _ stored: JournalContents.Store) {
    let lacksInputs =
      stored.lacksInputs || stored.isPutBack
      || stored.accepted.contains { !storeEntry.store.canRestart($0.input ?? []) }
    storeEntry.store.resume(areSomeLost: lacksInputs)
    // No client is attached, whatever the state says.
    storeEntry.viewersChanged()
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
    "the store \(stored.name.quoted()) of kind \(stored.kind.quoted()) of a session"
  }
}

/// A journaled store and the store that continues it.
struct RestoredStore {
  let stored: JournalContents.Store
  /// The new store; nil if there is none.
  var content: StoreEntry.Content?
  /// The reason why the journaled store is not continued; nil if it is.
  var error: JSONError?
  /// The state that is kept aside because of that.
  var kept: KeptState?
  /// True if not all journaled changes of the state could be read.
  var areChangesLost = false
}

extension JournalContents.Store {
  /// True if the operator has put the state back and nothing has happened since. The inputs of that
  /// time are lost.
  fileprivate var isPutBack: Bool {
    renewal == .restored && revision == opened && accepted.isEmpty
  }

  fileprivate var highestOperation: UInt64 {
    max(lastOperation, accepted.map(\.operation).max() ?? 0)
  }

  /// Returns the state after all folded actions; nil if none was journaled.
  ///
  /// - Returns: The state, and true if it includes all changes.
  func foldedState() throws(JSONError) -> (JSONValue, isWhole: Bool)? {
    guard let state else { return nil }
    var folded = try JSONValue(parsing: state, limits: .stored)
    do throws(JSONError) {
      for text in patches {
        let patch = try JSONPatch(parsing: text, limits: .stored)
        folded = try patch.apply(to: folded, limits: .stored)
      }
      return (folded, true)
    } catch {
      return (folded, false)
    }
  }
}
