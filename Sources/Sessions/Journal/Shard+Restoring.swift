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
  /// - Returns: The parts that could not be restored, each as one sentence for the log.
  /// - Throws: The error of the journal if it cannot be read at all.
  func restore() throws -> [String] {
    guard let commits else { return [] }
    let contents = try commits.load()
    // The ids of operations are the same in each run of a test, and yet different from those of
    // earlier processes.
    if testing != nil { commits.epoch = contents.loads }
    var damage = contents.damage
    group.add(keptBytes: contents.keptBytes)
    turn {
      for (handle, owner) in contents.ended { directory.add(ended: handle, of: owner) }
      // The users of shared stores need them.
      let owners = contents.sessions.filter { SharedStore.isOwner($0.owner) }
      for session in owners + contents.sessions.filter({ !SharedStore.isOwner($0.owner) }) {
        if session.isSetAside {
          setAside(session, .crashes, &damage)
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
  ///   - time: The time at which a client asked for it, since 1970; nil for the present time.
  func timeLeft(
    until deadline: Duration?, owner: String?, at time: Duration? = nil
  ) -> Duration? {
    // The time for which a shared store is kept is that of its kind, which is not known yet.
    let whole = SharedStore.isOwner(owner) ? StoreScope.longestTime : limits.timeToLive
    guard let deadline else { return whole }
    let left = deadline - (time ?? sinceEpoch)
    // The minimum limits the effect of a changed calendar.
    return left > .zero ? min(left, whole) : nil
  }

  /// Restores a session.
  ///
  /// - Parameter deadline: The time at which it expires, by `uptime`.
  func restore(
    _ stored: JournalContents.Session, expiringAt deadline: Duration, _ damage: inout [String]
  ) {
    guard let crashes = commits?.crashes else {
      return restoreStores(stored, expiringAt: deadline, &damage)
    }
    let work = RestoredWork(stored.handle, crashes)
    restoring = work
    work.perform { restoreStores(stored, expiringAt: deadline, &damage) }
    restoring = nil
    // A session that was set aside is not in the directory.
    for storeEntry in directory[stored.handle]?.entriesInOrder ?? [] {
      watch(storeEntry.number, work)
    }
    work.partEnded()
  }

  private func restoreStores(
    _ stored: JournalContents.Session, expiringAt deadline: Duration, _ damage: inout [String]
  ) {
    let session = Session(
      handle: stored.handle, owner: stored.owner,
      phase: stored.deadline == nil ? .active : .inactive, isolation: self)
    session.record?.continuesAlone = stored.continuesAlone
    session.record?.bytes = stored.bytes
    session.joinIdentityAccount(self)
    // Nothing of the session is journaled before all stores were read.
    guard let stores = session.read(stored, self) else {
      return setAside(stored, .keptBytes, &damage)
    }
    directory.add(session, stored.handle)
    session.expire(after: deadline - uptime, self)
    session.restore(stored, stores, &damage, self)
    if session.isOwnerOfShared { addShared(of: session) }
  }

  /// A reason to keep a session in the journal without restoring it.
  enum SetAsideReason {
    /// Its restored work has crashed the process.
    case crashes
    /// One of its states cannot be read, and all states that are kept aside would have too many
    /// bytes.
    case keptBytes
  }

  /// Keeps a session in the journal without restoring it.
  func setAside(
    _ stored: JournalContents.Session, _ reason: SetAsideReason, _ damage: inout [String]
  ) {
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
    let stores = "\(open.prefix(Self.namedStores).joined(separator: ", "))\(more.joined())"
    // Logs do not contain the whole handle, because it is a secret: any client that has it can
    // attach.
    let session = "the session \(stored.handle.description.prefix(8))... is set aside"
    switch reason {
    case .crashes:
      damage.append(
        """
        \(session), because its restored work has crashed the process twice in a row. Its stores: \(stores). Upgrade the \
        program, then delete the file crashes in the data folder: the next start restores the session.
        """)
    case .keptBytes:
      let remedy =
        ownership == nil
        ? "Stop the server, export and remove kept states with the command journal"
        : "Delete rows of the table statewire.kept"
      damage.append(
        """
        \(session), because a state of it cannot be read and the states that are kept aside would have more than \
        \(limits.keptBytes) bytes. Its stores: \(stores). \(remedy): the next start restores the session.
        """)
    }
  }

  // A limit for the length of the log line.
  private static var namedStores: Int { 10 }
}

// MARK: - The work that may crash the process again

extension Shard {
  /// Counts all work that has begun in a store until now as restored work.
  func watch(_ number: StoreNumber, _ work: RestoredWork) {
    guard let store = store(number) else { return }
    work.partBegan()
    restored[number] = (work, store.lastOperation)
    endRestoredWork(of: number)
  }

  /// Ends a store's part of the restored work if all of it has ended.
  func endRestoredWork(of number: StoreNumber) {
    guard let (work, last) = restored[number], store(number)?.hasWork(through: last) != true
    else { return }
    restored[number] = nil
    work.partEnded()
  }
}
