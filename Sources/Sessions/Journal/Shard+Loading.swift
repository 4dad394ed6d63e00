// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// Sessions of earlier processes come back one by one, so that a start does not take longer where there are many:
//
//     overview        which sessions there are, on the thread of the journal, beside the first responses
//     attached to     a session is loaded when its first frontend comes, which waits for it
//     continues       those with something to do are restored without a frontend, each in a turn of its own
//     expired         removed from the journal without being loaded

extension Shard {
  /// Begins to bring back the sessions that the process before has journaled; once, before anybody can attach.
  ///
  /// Under test all of them are back when this returns. Otherwise each is restored when it is needed: a frontend that comes
  /// back waits for its own (`whenLoaded`), and `continueSessions` restores those that have something to do.
  ///
  /// - Parameters:
  ///   - report: Called with what could not be brought back, one sentence each, for the operator.
  ///   - failed: Called with the reason if the journal cannot be read at all; no session can be opened or attached to then.
  /// - Throws: The same, under test.
  public func beginRestoring(
    report: @escaping @Sendable (String) -> Void,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) throws {
    guard let commits else { return }
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

  /// Lets the sessions continue that have something to do although no frontend comes, in the order in which they were opened;
  /// once the server serves, so that no client waits for that.
  ///
  /// To be called about once a second: sessions that could not be loaded are tried again after a while.
  public func continueSessions() {
    loader.mayContinue = true
    if loader.hasContinuing { inTurn { restoreNext() } }
  }

  /// True until it is known which sessions there are.
  public var isReadingJournal: Bool { loader.isReading }

  /// Calls `body` in a turn once it is known which sessions there are.
  public func whenJournalIsRead(_ body: @escaping (isolated Shard) -> Void) {
    if loader.isReading { loader.add(.init(step: body)) } else { body(self) }
  }

  /// Returns when it is known which sessions there are.
  ///
  /// - Throws: The reason if the journal cannot be read at all.
  public func journalIsRead() async throws {
    await withCheckedContinuation { continuation in
      whenJournalIsRead { _ in continuation.resume() }
    }
    if let failure = loader.failure { throw failure }
  }

  /// True if a frontend that asks for a session has to wait for `whenLoaded`.
  public func mustLoad(_ handle: String, of identity: String?) -> Bool {
    loader.isReading
      || commits?.isSynchronous == false && directory.dormant(handle, of: identity) != nil
  }

  /// Calls `body` in a turn once a session is loaded, or it is known that it cannot be.
  ///
  /// - Parameters:
  ///   - handle: The session, as it came.
  ///   - identity: The identity of the client that asks; nil where there are no identities.
  ///   - body: Finds the session in the directory, if it could be loaded.
  public func whenLoaded(
    _ handle: String, of identity: String?, _ body: @escaping (isolated Shard) -> Void
  ) {
    if loader.isReading {
      return loader.add(.init(session: (handle, identity), step: body))
    }
    guard let handle = directory.dormant(handle, of: identity),
      !loader.hasFailed(handle, at: uptime)
    else { return body(self) }
    // A frontend that has come in time gets its session, however long the disk takes.
    directory.postpone(dormant: handle, from: uptime, to: uptime + limits.timeToLive)
    load(handle, then: body)
  }

  /// Loads a session immediately, where that needs no other thread.
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
      loader.isReading = false
      guard !loader.isStopped else { return }
      switch result {
      case .success(let overview):
        take(overview)
      case .failure(let error):
        loader.failure = error
        failed(error)
      }
      for waiting in loader.takeWaiting() {
        if let (handle, identity) = waiting.session {
          whenLoaded(handle, of: identity, waiting.step)
        } else {
          waiting.step(self)
        }
      }
      restoreNext()
    }
  }

  private func take(_ overview: JournalOverview) {
    var damage = overview.damage
    for (handle, owner) in overview.ended { directory.add(ended: handle, of: owner) }
    for session in overview.setAside { setAside(session, &damage) }
    for sentence in damage { loader.report(sentence) }
    var dormant: [(handle: SessionHandle, session: DormantSession)] = []
    var continuing: [SessionHandle] = []
    for session in overview.sessions {
      guard let time = timeLeft(until: session.deadline) else {
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
      if session.continues { continuing.append(session.handle) }
    }
    directory.add(dormant: dormant)
    loader.add(continuing: continuing)
  }

  /// Keeps bytes free for a session that is not loaded, so that all sessions have room when they are.
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
        // Each in a turn of its own; where there is no other thread, this loop continues.
        if shard.commits?.isSynchronous == false { shard.restoreNext() }
      }
    }
  }

  private func load(_ handle: SessionHandle, then step: @escaping SessionLoader.Step) {
    guard let commits, loader.add(step, for: handle) else { return }
    commits.load(handle) { [weak self] result in
      self?.assumeIsolated { $0.take(result, handle) }
    }
  }

  private func take(_ result: Result<LoadedSession, any Error>, _ handle: SessionHandle) {
    commits?.answered()
    inTurn {
      let steps = loader.take(handle)
      guard !loader.isStopped else { return }
      switch result {
      case .success(let loaded): take(loaded, handle)
      case .failure(let error):
        loader.failed(handle, at: uptime)
        loader.report("a session cannot be loaded: \(error)")
      }
      for step in steps { step(self) }
    }
  }

  private func take(_ loaded: LoadedSession, _ handle: SessionHandle) {
    var damage = loaded.damage
    commits?.lost(loaded.incomplete, self)
    // Those whose time is over meanwhile are removed as they are.
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

  /// Runs `body` in the turn in hand, or in one of its own.
  private func inTurn(_ body: () -> Void) {
    if turnOutcome.isInTurn { body() } else { turn(body) }
  }
}
