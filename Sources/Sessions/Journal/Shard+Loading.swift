// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// Sessions of earlier processes are loaded one by one, so that a start with many sessions does not
// take longer:
//
//     start        the thread of the journal reads which sessions own shared stores, while the
//                  first responses are sent
//     attached to  a session is loaded when its first client attaches; the client waits for it
//     continues    a session with work to continue is restored without a client, in a separate turn
//     sleeps       a session without a client and without work leaves the memory (Shard+Sleeping)
//     expired      a session is removed from the journal without being loaded
//
// Nothing in memory depends on the number of sessions in the journal.

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
    commits.start { [weak self] result in
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
    guard ownership == nil, testing == nil, commits != nil else { return }
    if loader.hasContinuing { inTurn { restoreNext() } }
    endExpiredInJournal()
  }

  /// True until the start of the journal has been read.
  public var isReadingJournal: Bool { loader.isReading }

  /// Calls `body` in a turn when the start of the journal has been read.
  public func whenJournalIsRead(_ body: @escaping (isolated Shard) -> Void) {
    if loader.isReading { loader.add(.init(step: body)) } else { body(self) }
  }

  /// Waits until the start of the journal has been read.
  ///
  /// - Throws: The error if the journal cannot be read at all.
  public func journalIsRead() async throws {
    await withCheckedContinuation { continuation in
      whenJournalIsRead { _ in continuation.resume() }
    }
    if let failure = loader.failure { throw failure }
  }

  /// Returns true if a client that attaches to a session has to wait for `whenLoaded`.
  public func mustLoad(_ handle: String) -> Bool {
    if ownership != nil { return mustLocate(handle) }
    return loader.isReading || commits?.isSynchronous == false && handleInJournal(handle) != nil
  }

  /// Returns a handle if only the journal knows whether there is such a session.
  private func handleInJournal(_ text: String) -> SessionHandle? {
    guard commits != nil, testing == nil, let handle = SessionHandle(text), place.owns(handle),
      !directory.knows(handle), !loader.hasFailed(handle, at: uptime)
    else { return nil }
    return handle
  }

  /// Calls `body` in a turn when a session is loaded, or cannot be loaded.
  ///
  /// - Parameters:
  ///   - handle: The handle, as in the request.
  ///   - body: Called on the shard; the directory has the session if it could be loaded.
  public func whenLoaded(_ handle: String, _ body: @escaping (isolated Shard) -> Void) {
    if let ownership { return locate(handle, ownership, body) }
    if loader.isReading {
      return loader.add(.init(session: (handle, sinceEpoch), step: body))
    }
    load(handle, asked: sinceEpoch, then: body)
  }

  /// Calls `step` as `whenLoaded` does, for a client that asked at a time since 1970.
  private func load(_ text: String, asked: Duration, then step: @escaping SessionLoader.Step) {
    guard let handle = handleInJournal(text) else { return step(self) }
    if loader.add(step, for: handle, asked: asked) { beginLoading(handle) }
  }

  /// Loads a session immediately if there is no journal thread.
  func loadNow(_ handle: String) {
    guard commits?.isSynchronous == true else { return }
    load(handle, asked: sinceEpoch) { _ in }
  }

  private func take(
    _ result: Result<JournalStart, any Error>, _ failed: @Sendable (any Error) -> Void
  ) {
    commits?.requestEnded()
    inTurn {
      guard !loader.isStopped else {
        loader.isReading = false
        return
      }
      switch result {
      case .success(let start):
        take(start)
        for handle in start.owners { loadNeeded(handle) { shard in shard.ownerLoaded() } }
        if start.owners.isEmpty { journalWasRead() }
      case .failure(let error):
        loader.failure = error
        failed(error)
        journalWasRead()
      }
    }
  }

  private func take(_ start: JournalStart) {
    var damage = start.damage
    group.add(keptBytes: start.keptBytes)
    for session in start.setAside { setAside(session, .crashes, &damage) }
    for sentence in damage { loader.report(sentence) }
    loader.missingOwners = Set(start.owners)
    loader.loadingOwners = start.owners.count
  }

  /// Handles the end of the loading of a session that owns a shared store.
  private func ownerLoaded() {
    loader.loadingOwners -= 1
    if loader.loadingOwners == 0 { journalWasRead() }
  }

  private func journalWasRead() {
    loader.isReading = false
    for waiting in loader.takeWaiting() {
      if let (handle, asked) = waiting.session {
        load(handle, asked: asked, then: waiting.step)
      } else {
        waiting.step(self)
      }
    }
    restoreNext()
  }

  private func restoreNext() {
    guard !loader.isReading, !loader.isStopped else { return }
    while loader.mayContinue, !loader.isContinuing {
      if let handle = loader.takeContinuing(at: uptime) {
        guard !directory.knows(handle) else { continue }
        loader.isContinuing = true
        loadNeeded(handle) { shard in
          shard.loader.isContinuing = false
          // Each session is restored in a separate turn. Without a journal thread, the caller's loop
          // continues.
          if shard.commits?.isSynchronous == false { shard.restoreNext() }
        }
      } else if loader.mayRead(at: uptime) {
        readContinuing()
      } else {
        return
      }
    }
  }

  /// Reads which sessions have work to continue, some at a time.
  private func readContinuing() {
    loader.isContinuing = true
    commits?.continuing(after: loader.position, limit: Self.sessionsAtATime) { [weak self] result in
      self?.assumeIsolated { shard in
        shard.commits?.requestEnded()
        shard.inTurn {
          shard.loader.isContinuing = false
          switch result {
          case .success(let sessions): shard.loader.add(sessions)
          case .failure(let error):
            shard.loader.delayReading(from: shard.uptime)
            shard.loader.report(
              "cannot read which sessions have work to continue: \(error); the next attempt is in 60 s"
            )
          }
          if shard.commits?.isSynchronous == false { shard.restoreNext() }
        }
      }
    }
  }

  /// Ends sessions that are not loaded and whose time is over: those of all shards.
  private func endExpiredInJournal() {
    guard place.index == 0, !loader.isReading, !loader.isStopped, !loader.isEnding,
      uptime >= loader.nextEnding
    else { return }
    loader.isEnding = true
    commits?.endExpired(at: sinceEpoch, limit: Self.sessionsAtATime) { [weak self] result in
      self?.assumeIsolated { shard in
        shard.commits?.requestEnded()
        shard.inTurn { shard.loader.isEnding = false }
        // Otherwise none is left, or the disk is full.
        if case .success(Self.sessionsAtATime) = result, shard.commits?.isSynchronous == false {
          return shard.endExpiredInJournal()
        }
        shard.loader.nextEnding = shard.uptime + Self.timeBetweenEndings
      }
    }
  }

  private static var sessionsAtATime: Int { 100 }
  /// A client that attaches to a session whose time is over is refused also before the session is
  /// removed.
  private static var timeBetweenEndings: Duration { .seconds(10) }

  /// Loads a session although no client attaches; after a failure it is tried again.
  private func loadNeeded(_ handle: SessionHandle, then step: @escaping SessionLoader.Step) {
    if loader.add(step, for: handle, isNeeded: true) { beginLoading(handle) }
  }

  /// Loads a session for which steps wait.
  func beginLoading(_ handle: SessionHandle) {
    commits?.load(handle) { [weak self] result in
      self?.assumeIsolated { $0.take(result, handle) }
    }
  }

  private func take(_ result: Result<LoadedSession, any Error>, _ handle: SessionHandle) {
    commits?.requestEnded()
    inTurn {
      if ownership != nil { return takeClaimed(result, handle) }
      let loading = loader.take(handle)
      guard !loader.isStopped else { return }
      switch result {
      case .success(let loaded):
        commits?.lost(loaded.incomplete, self)
        restore(loaded, handle, asked: loading.asked)
        loader.missingOwners.remove(handle)
      case .failure(let error):
        loader.failed(handle, at: uptime)
        if loading.isNeeded { loader.postpone(handle, from: uptime) }
        loader.report("cannot load a session: \(error); the next attempt is in 60 s or later")
      }
      for step in loading.steps { step(self) }
    }
  }

  /// Restores a session that was read, or records that it has ended.
  ///
  /// - Parameter asked: The time at which a client asked for it, since 1970; nil if none waits.
  func restore(_ loaded: LoadedSession, _ handle: SessionHandle, asked: Duration?) {
    var damage = loaded.damage
    if let session = loaded.session, directory[handle] == nil {
      if let time = timeLeft(until: session.deadline, owner: session.owner, at: asked) {
        makePlace(for: session.owner)
        let whole = asked == nil ? time : limits.timeToLive
        restore(session, expiringAt: uptime + max(time, whole), &damage)
      } else {
        directory.add(ended: handle, of: session.owner)
        commits?.add(.ended, to: handle)
      }
    } else if let ended = loaded.ended {
      directory.add(ended: handle, of: ended.owner)
    } else if !loaded.damage.isEmpty {
      // A part without which it cannot continue cannot be read; the identity is not known.
      directory.add(ended: handle, of: nil)
    }
    for sentence in damage { loader.report(sentence) }
  }

  /// Runs `body` in the current turn, or in a new one.
  private func inTurn(_ body: () -> Void) {
    if turnOutcome.stage == .turn { body() } else { turn(body) }
  }
}
