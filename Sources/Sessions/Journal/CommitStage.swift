// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// An object that waits for the end of a commit.
public protocol CommitObserver: AnyObject {
  /// Handles the end of some commits. The observer is registered for one call; it registers again
  /// if it waits for other commits.
  func committed(_ result: CommitResult, isolation shard: isolated Shard)
}

/// The second stage of a turn: passes the turn's entries to the journal, and continues with
/// everything that waits for their commit.
///
/// The next turns run while a commit is in progress. Commits end in the order of their turns. Bytes
/// for a client wait for the commit of their turn. Work waits for the last commit of its session:
/// if the process is killed, the journal contains the input of each work that has an effect outside
/// the process.
///
/// If a commit fails, nothing of its turn may be sent. The clients of its sessions are
/// disconnected, and the journal lacks entries of these sessions. Each such session is journaled as
/// a whole before anything else of it is sent.
final class CommitStage {
  /// A number that distinguishes the operations of this process from those of all others.
  var epoch: UInt64

  private let writer: ShardJournal
  /// Called with the error of each failed commit.
  private let failed: (any Error) -> Void
  /// Called when the journal has everything again after failed commits.
  private let recovered: () -> Void
  /// True from a failed commit until the journal has everything again.
  private var isFailing = false
  private let clock: any StoreClock

  /// The entries of the current turn.
  private var entries: [JournalEntry] = []
  /// Their approximate size, in bytes.
  private(set) var entryBytes = 0
  /// The commit of the current turn, if the turn has entries.
  private var current = CommitNumber(rawValue: 1)
  private var lastEnded = CommitNumber(rawValue: 0)
  /// The spans of commits that have not ended; each of a traced input with entries.
  private var commitSpans: [(number: CommitNumber, span: any TraceSpan)] = []
  /// Results that have not been handled.
  private var results: [CommitResult] = []
  private var observers: [any CommitObserver] = []
  private var whenIdle: [() -> Void] = []

  /// The work of the current turn.
  private var work: [(begin: () -> Void, record: SessionRecord)] = []
  /// The work of earlier turns, in the order of the commits for which it waits.
  private var waitingWork: [(number: CommitNumber, begin: () -> Void, record: SessionRecord)] =
    []

  /// Sessions without a participant for which `continuesAlone` may have changed.
  private var alone: [SessionRecord] = []
  /// Number of requests to the journal that have not ended.
  private var openRequests = 0

  private var incomplete = IncompleteSessions()

  /// Creates a stage.
  ///
  /// - Parameters:
  ///   - writer: The journal of the shard.
  ///   - epoch: A number that no other process with the same data has used.
  ///   - clock: Measures the time between attempts.
  ///   - failed: Called with the error of each failed commit.
  ///   - recovered: Called when the journal has everything again after failed commits.
  init(
    _ writer: ShardJournal, epoch: UInt64, clock: any StoreClock,
    failed: @escaping (any Error) -> Void, recovered: @escaping () -> Void
  ) {
    self.writer = writer
    self.clock = clock
    self.epoch = epoch
    self.failed = failed
    self.recovered = recovered
  }

  func load() throws -> JournalContents { try writer.load() }

  /// Reads what the shard needs before its first client, and calls `body` on the shard's thread.
  func start(_ body: @escaping @Sendable (Result<JournalStart, any Error>) -> Void) {
    openRequests += 1
    writer.start(ended: body)
  }

  /// Reads which sessions have to be restored although no client attaches, and calls `body` on the
  /// shard's thread.
  func continuing(
    after position: Int64?, limit: Int,
    _ body: @escaping @Sendable (Result<ContinuingSessions, any Error>) -> Void
  ) {
    openRequests += 1
    writer.continuing(after: position, limit: limit, ended: body)
  }

  /// Ends sessions that are not loaded and whose time is over, and calls `body` on the shard's
  /// thread.
  func endExpired(
    at time: Duration, limit: Int, _ body: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) {
    openRequests += 1
    writer.endExpired(at: time, limit: limit, ended: body)
  }

  /// Loads one session, and calls `body` on the shard's thread.
  func load(
    _ session: SessionHandle,
    _ body: @escaping @Sendable (Result<LoadedSession, any Error>) -> Void
  ) {
    openRequests += 1
    writer.load(session, ended: body)
  }

  /// Gives sessions up after all commits that have begun, and calls `ended` on any thread.
  func release(_ sessions: [SessionHandle], ended: @escaping @Sendable () -> Void) {
    writer.release(sessions, ended: ended)
  }

  /// Removes sessions from the memory of the journal, after all commits that have begun.
  func forget(_ sessions: [SessionHandle]) { writer.forget(sessions) }

  /// Forgets sessions that other nodes may own, after the commit of the current turn.
  func lose(_ sessions: [SessionHandle]) { writer.forget(sessions, after: current) }

  /// Calls `body` on the shard's thread with each result, which it passes to `take`.
  func whenEnded(_ body: @escaping @Sendable (CommitResult) -> Void) { writer.whenEnded(body) }

  /// Calls `body` on the shard's thread with sessions of which the journal has lost entries.
  func whenLost(_ body: @escaping @Sendable (Set<SessionHandle>) -> Void) { writer.whenLost(body) }

  /// Records the end of a request to the journal.
  func requestEnded() { openRequests -= 1 }

  /// True if commits and requests to the journal end before the call returns.
  var isSynchronous: Bool { writer.isSynchronous }

  var crashes: (any CrashCounter)? { writer.crashes }

  /// Adds an entry to the current turn.
  ///
  /// - Returns: The commit of the turn.
  @discardableResult
  func add(_ event: JournalEntry.Event, to session: SessionHandle) -> CommitNumber {
    entries.append(JournalEntry(session, event))
    entryBytes += event.byteCount
    return current
  }

  /// Returns true if a commit has ended.
  func hasEnded(_ number: CommitNumber) -> Bool { number <= lastEnded }

  /// The number of entries of the current turn.
  var entryCount: Int { entries.count }

  /// True if the current turn has entries.
  var hasEntries: Bool { !entries.isEmpty }

  /// Returns the commits that must end before bytes that a client receives now are sent; nil if
  /// there are none.
  ///
  /// - Parameters:
  ///   - record: The session of the client.
  ///   - earlier: The pending commits of the sessions that the client has left.
  func pending(_ record: SessionRecord?, after earlier: [CommitNumber]) -> PendingCommits? {
    var pending = hasEntries ? PendingCommits(last: current) : nil
    func add(_ number: CommitNumber) {
      guard number > lastEnded else { return }
      if pending == nil { pending = PendingCommits(last: number) } else { pending?.add(number) }
    }
    if let record { add(record.lastCommit) }
    for number in earlier { add(number) }
    return pending
  }

  /// Removes an observer.
  func remove(_ observer: any CommitObserver) { observers.removeAll { $0 === observer } }

  /// Notifies an observer of the next commit that ends.
  func add(_ observer: any CommitObserver) { observers.append(observer) }

  /// Calls `body` when all commits and requests have ended.
  func whenIdle(_ body: @escaping () -> Void) {
    if isIdle { body() } else { whenIdle.append(body) }
  }

  private var isIdle: Bool { !hasEntries && lastEnded.next == current && openRequests == 0 }

  func hold(_ begin: @escaping () -> Void, of record: SessionRecord) {
    work.append((begin, record))
  }

  /// Begins a span for the commit of the current turn.
  ///
  /// - Parameter input: The span of an input that has added entries to the turn.
  func trace(_ input: any TraceSpan) {
    if let span = input.child(.commit, "commit") { commitSpans.append((current, span)) }
  }

  /// Adds a result, to be handled at the end of the turn.
  func take(_ result: CommitResult) { results.append(result) }

  /// Ends the turn: commits its entries, and continues with everything that waits for commits that
  /// have ended.
  func turnEnded(_ shard: isolated Shard) {
    repeat {
      for result in takeResults() { ended(result, shard) }
      noteContinuing(shard)
      commit()
      rewriteIncomplete(shard)
      beginWork()
    } while !results.isEmpty
    if isFailing, incomplete.isEmpty {
      isFailing = false
      recovered()
    }
    if isIdle, !whenIdle.isEmpty {
      let bodies = whenIdle
      whenIdle = []
      for body in bodies { body() }
    }
  }

  /// Records that `continuesAlone` of a session without a participant may have changed.
  func addAlone(_ record: SessionRecord) { alone.append(record) }

  private func noteContinuing(_ shard: isolated Shard) {
    guard !alone.isEmpty else { return }
    let records = alone
    alone = []
    for record in records { record.noteContinuing(shard.directory[record.handle]) }
  }

  private func takeResults() -> [CommitResult] {
    if results.isEmpty { return [] }
    defer { results = [] }
    return results
  }

  private func commit() {
    guard hasEntries else { return }
    let (number, byteCount) = (current, entryBytes)
    current = number.next
    entryBytes = 0
    writer.commit(&entries, byteCount: byteCount, number)
  }

  private func ended(_ result: CommitResult, _ shard: isolated Shard) {
    lastEnded = result.last
    if !commitSpans.isEmpty {
      let ended = commitSpans.prefix { $0.number <= lastEnded }
      for commit in ended { commit.span.end(result.hasFailed(commit.number) ? .failed : .finished) }
      commitSpans.removeFirst(ended.count)
    }
    for failure in result.failures { take(failure, shard) }
    incomplete.ended(lastEnded)
    let notified = observers
    observers = []
    for observer in notified { observer.committed(result, isolation: shard) }
    let count = waitingWork.prefix { $0.number <= lastEnded }.count
    let ready = waitingWork.prefix(count)
    waitingWork.removeFirst(count)
    for (_, work, record) in ready { begin(work, record) }
  }

  private func take(_ failure: CommitResult.Failure, _ shard: isolated Shard) {
    incomplete.failed(failure.numbers, at: clock.uptime)
    if failure.error is SessionOnOtherNode || failure.error is LeaseLost {
      return shard.lose(failure.sessions)
    }
    if !(failure.error is IncompleteSession) {
      isFailing = true
      failed(failure.error)
    }
    for handle in failure.sessions { lost(handle, failure.numbers.upperBound, shard) }
  }

  /// Handles the loss of entries of sessions whose commits had succeeded.
  func lost(_ sessions: Set<SessionHandle>, _ shard: isolated Shard) {
    for handle in sessions { lost(handle, lastEnded, shard) }
  }

  private func lost(_ handle: SessionHandle, _ number: CommitNumber, _ shard: isolated Shard) {
    guard let session = shard.directory[handle], let record = session.record else { return }
    let isKnown = record.isIncomplete
    guard record.failed(number) else { return }
    if !isKnown { incomplete.append(handle) }
    // Also clients that have received nothing: they may wait for work that starts only after the
    // session was journaled.
    session.disconnectClients(isolation: shard)
  }

  // MARK: Work

  private func beginWork() {
    guard !work.isEmpty else { return }
    let ready = work
    work = []
    for (work, record) in ready {
      if record.lastCommit > lastEnded {
        // The last commit that has begun, even if the session's own is earlier, so that work starts
        // in order.
        waitingWork.append((CommitNumber(rawValue: current.rawValue - 1), work, record))
      } else {
        begin(work, record)
      }
    }
  }

  private func begin(_ work: @escaping () -> Void, _ record: SessionRecord) {
    if record.isIncomplete { record.work.append(work) } else { work() }
  }

  // MARK: Incomplete sessions

  /// Journals a session as a whole in the current turn, because a client is about to receive
  /// something of it.
  ///
  /// - Returns: False if the last attempt failed less than a second ago, or the session has ended.
  func complete(_ session: Session) -> Bool {
    guard let record = session.record, record.isIncomplete else { return true }
    guard !session.isEnded, incomplete.beginForClient(at: clock.uptime, in: current) else {
      return false
    }
    record.rewrite(session)
    return true
  }

  /// Journals incomplete sessions as a whole, one per commit, also those to which no client
  /// attaches.
  private func rewriteIncomplete(_ shard: isolated Shard) {
    guard incomplete.canContinue,
      let session = incomplete.next(at: clock.uptime, in: current, { shard.directory[$0] })
    else { return }
    session.record?.rewrite(session)
    commit()
  }
}

extension JournalEntry.Event {
  /// The approximate size of the event, in bytes.
  fileprivate var byteCount: Int {
    let texts =
      switch self {
      case .keptAside(let kept): kept.state.count
      case .store(_, .opened(_, let configuration, _, _, _)): configuration.count
      case .store(_, .state(let state, _)): state?.expectedBytes ?? 0
      case .store(_, .step(let patch, _, let frame)): (patch?.count ?? 0) + (frame?.count ?? 0)
      case .store(_, .accepted(_, _, let input, _)): input?.count ?? 0
      default: 0
      }
    return texts + 64
  }
}
