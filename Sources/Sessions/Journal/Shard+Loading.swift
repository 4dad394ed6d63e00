// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// Sessions of earlier processes are loaded one by one, so that a start with many sessions does not
// take longer:
//
//     overview     the thread of the journal reads which sessions exist, while the first
//                  responses are sent
//     attached to  a session is loaded when its first client attaches; the client waits for it
//     continues    a session with work to continue is restored without a client, in a separate turn
//     expired      a session is removed from the journal without being loaded

extension Shard {
  /// Starts restoring the sessions that the previous process has journaled. It is called once,
  /// before a client can attach.
  ///
  /// Under test, all sessions are restored when this returns. Otherwise each session is restored
  /// when it is needed: a client that attaches waits for its session (`whenLoaded`), and
  /// `continueSessions` restores those with work to continue.
  ///
  /// - Parameters:
  ///   - report: Called with one sentence for each part that could not be restored, for the log.
  ///   - failed: Called with the error if the journal cannot be read at all; no session can be
  ///     opened or attached to then.
  /// - Throws: The same error, under test.
  public func beginRestoring(
    report: @escaping @Sendable (String) -> Void,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) throws {
    guard let commits else { return }
    // Sessions of a node among others are claimed one by one.
    if ownership != nil {
      loader = SessionLoader(report)
      return
    }
    if testing != nil {
      for sentence in try restore() { report(sentence) }
      return
    }
    loader = SessionLoader(report)
    loader.isReading = true
    commits.overview { [weak self] result in
      self?.assumeIsolated { $0.take(result, failed) }
    }
  }

  /// Restores the sessions with work to continue, in the order in which they were opened. It is
  /// first called when the server accepts clients, so that no client waits for it.
  ///
  /// It is to be called about once a second, so that sessions that could not be loaded are tried
  /// again.
  public func continueSessions() {
    loader.mayContinue = true
    if loader.hasContinuing { inTurn { restoreNext() } }
  }

  /// True until the overview of the journal has been read.
  public var isReadingJournal: Bool { loader.isReading }

  /// Calls `body` in a turn when the overview of the journal has been read.
  public func whenJournalIsRead(_ body: @escaping (isolated Shard) -> Void) {
    if loader.isReading { loader.add(.init(step: body)) } else { body(self) }
  }

  /// Waits until the overview of the journal has been read.
  ///
  /// - Throws: The error if the journal cannot be read at all.
  public func journalIsRead() async throws {
    await withCheckedContinuation { continuation in
      whenJournalIsRead { _ in continuation.resume() }
    }
    if let failure = loader.failure { throw failure }
  }

  /// Returns true if a client that attaches to a session has to wait for `whenLoaded`.
  public func mustLoad(_ handle: String, of identity: String?) -> Bool {
    if ownership != nil { return mustLocate(handle) }
    return loader.isReading
      || commits?.isSynchronous == false && directory.dormant(handle, of: identity) != nil
  }

  /// Calls `body` in a turn when a session is loaded, or cannot be loaded.
  ///
  /// - Parameters:
  ///   - handle: The handle, as in the request.
  ///   - identity: The identity of the client; nil if there are no identities.
  ///   - body: Called on the shard; the directory has the session if it could be loaded.
  public func whenLoaded(
    _ handle: String, of identity: String?, _ body: @escaping (isolated Shard) -> Void
  ) {
    if let ownership { return locate(handle, ownership, body) }
    if loader.isReading {
      return loader.add(.init(session: (handle, identity), step: body))
    }
    guard let handle = directory.dormant(handle, of: identity),
      !loader.hasFailed(handle, at: uptime)
    else { return body(self) }
    // The session of a client that attaches in time does not expire while the disk is slow.
    directory.postpone(dormant: handle, from: uptime, to: uptime + limits.timeToLive)
    load(handle, then: body)
  }

  /// Loads a session immediately if there is no journal thread.
  func loadNow(_ handle: String, of identity: String?) {
    guard commits?.isSynchronous == true, let handle = directory.dormant(handle, of: identity)
    else { return }
    load(handle) { _ in }
  }

  private func take(
    _ result: Result<JournalOverview, any Error>, _ failed: @Sendable (any Error) -> Void
  ) {
    commits?.answered()
    inTurn {
      guard !loader.isStopped else {
        loader.isReading = false
        return
      }
      switch result {
      case .success(let overview):
        let owners = take(overview)
        loader.owners = owners.count
        for handle in owners { load(handle) { shard in shard.ownerLoaded(handle) } }
        if owners.isEmpty { journalWasRead() }
      case .failure(let error):
        loader.failure = error
        failed(error)
        journalWasRead()
      }
    }
  }

  /// Handles the end of the loading of a session that owns a shared store.
  private func ownerLoaded(_ handle: SessionHandle) {
    // One that could not be loaded is tried again.
    if directory.dormant(handle) != nil { loader.couldNotContinue(handle) }
    loader.owners -= 1
    if loader.owners == 0 { journalWasRead() }
  }

  private func journalWasRead() {
    loader.isReading = false
    for waiting in loader.takeWaiting() {
      if let (handle, identity) = waiting.session {
        whenLoaded(handle, of: identity, waiting.step)
      } else {
        waiting.step(self)
      }
    }
    restoreNext()
  }

  /// Adds the sessions of the journal, none of which is loaded.
  ///
  /// - Returns: The sessions that own shared stores, which have to be loaded first.
  private func take(_ overview: JournalOverview) -> [SessionHandle] {
    var damage = overview.damage
    group.add(keptBytes: overview.keptBytes)
    for (handle, owner) in overview.ended { directory.add(ended: handle, of: owner) }
    for session in overview.setAside { setAside(session, .crashes, &damage) }
    for sentence in damage { loader.report(sentence) }
    var dormant: [(handle: SessionHandle, session: DormantSession)] = []
    var (continuing, owners): ([SessionHandle], [SessionHandle]) = ([], [])
    for session in overview.sessions {
      guard let time = timeLeft(until: session.deadline, owner: session.owner) else {
        directory.add(ended: session.handle, of: session.owner)
        commits?.add(.ended, to: session.handle)
        continue
      }
      dormant.append(
        (
          session.handle,
          DormantSession(
            owner: session.owner, deadline: uptime + time, isEmpty: session.isEmpty,
            account: account(for: session))
        ))
      if SharedStore.isOwner(session.owner) {
        owners.append(session.handle)
      } else if session.continues {
        continuing.append(session.handle)
      }
    }
    directory.add(dormant: dormant)
    loader.add(continuing: continuing)
    return owners
  }

  /// Reserves the bytes of a session that is not loaded, so that the limits admit all sessions when
  /// they are loaded.
  private func account(for session: JournalOverview.Session) -> ByteAccount? {
    guard session.bytes > 0 else { return nil }
    let account = ByteAccount(within: accounts.account(of: session.owner))
    account.add(session.bytes)
    return account
  }

  private func restoreNext() {
    guard !loader.isReading, !loader.isStopped else { return }
    while loader.mayContinue, !loader.isContinuing, let handle = loader.takeContinuing(at: uptime) {
      guard directory.dormant(handle) != nil else { continue }
      loader.isContinuing = true
      load(handle) { shard in
        shard.loader.isContinuing = false
        if shard.directory.dormant(handle) != nil { shard.loader.couldNotContinue(handle) }
        // Each session is restored in a separate turn. Without a journal thread, the caller's loop
        // continues.
        if shard.commits?.isSynchronous == false { shard.restoreNext() }
      }
    }
  }

  private func load(_ handle: SessionHandle, then step: @escaping SessionLoader.Step) {
    if loader.add(step, for: handle) { beginLoading(handle) }
  }

  /// Loads a session for which steps wait.
  func beginLoading(_ handle: SessionHandle) {
    commits?.load(handle) { [weak self] result in
      self?.assumeIsolated { $0.take(result, handle) }
    }
  }

  private func take(_ result: Result<LoadedSession, any Error>, _ handle: SessionHandle) {
    commits?.answered()
    inTurn {
      if ownership != nil { return takeClaimed(result, handle) }
      let steps = loader.take(handle)
      guard !loader.isStopped else { return }
      switch result {
      case .success(let loaded): take(loaded, handle)
      case .failure(let error):
        loader.failed(handle, at: uptime)
        loader.report("cannot load a session: \(error); the next attempt is in 60 s or later")
      }
      for step in steps { step(self) }
    }
  }

  private func take(_ loaded: LoadedSession, _ handle: SessionHandle) {
    var damage = loaded.damage
    commits?.lost(loaded.incomplete, self)
    // Sessions that have expired meanwhile are removed without being restored.
    expireSessions()
    if let (deadline, owner) = directory.takeDormant(handle).map({ ($0.deadline, $0.owner) }) {
      if let session = loaded.session {
        restore(session, expiringAt: deadline, &damage)
      } else {
        directory.add(ended: handle, of: owner)
      }
    }
    for sentence in damage { loader.report(sentence) }
  }

  /// Runs `body` in the current turn, or in a new one.
  private func inTurn(_ body: () -> Void) {
    if turnOutcome.isInTurn { body() } else { turn(body) }
  }
}
