// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Something that waits for the end of a commit.
public protocol CommitObserver: AnyObject {
  /// Some commits have ended; it is added again if it waits for others.
  func committed(_ result: CommitResult, isolation shard: isolated Shard)
}

/// The second stage of a turn: takes its entries to the journal, and continues with what waits for that.
///
/// The next turns run while a commit goes on. Commits end in the order of their turns. Bytes for a client wait for the
/// commit of their turn, and work for the last one of its session: work that leaves traces outside finds its input in the
/// journal if the process is killed.
///
/// If a commit fails, nothing of its turn may be sent: the clients of these sessions are disconnected, and the journal
/// lacks something of these sessions. Each of them is rewritten before anything else of it is sent.
final class CommitStage {
  /// Tells the operations that this process accepts from those of all others.
  var epoch: UInt64

  private let writer: JournalWriter
  private let failed: (any Error) -> Void
  private let clock: any StoreClock
  /// Takes a result to `take`, on the shard's thread.
  var notify: @Sendable (CommitResult) -> Void = { _ in }

  /// The entries of the turn in hand.
  private var entries: [JournalEntry] = []
  /// About how large they are.
  private(set) var entryBytes = 0
  /// The commit of the turn in hand, should it have entries.
  private var current = CommitNumber(rawValue: 1)
  private var lastEnded = CommitNumber(rawValue: 0)
  /// Results that have not been processed.
  private var results: [CommitResult] = []
  private var observers: [any CommitObserver] = []
  private var whenIdle: [() -> Void] = []

  /// The work of the turn in hand.
  private var work: [(work: any HeldWork, record: SessionRecord)] = []
  /// Work of earlier turns, in the order of the commits that it waits for.
  private var waitingWork: [(number: CommitNumber, work: any HeldWork, record: SessionRecord)] = []

  /// Sessions without a frontend of which it may have changed whether something continues in them.
  private var alone: [SessionRecord] = []
  /// How often the journal is being asked for something.
  private var openQuestions = 0

  /// The sessions that are incomplete, in the order in which they are tried.
  private var incomplete: [SessionHandle] = []
  /// The commit that writes one of them as a whole.
  private var rewriting: CommitNumber?
  /// When one may be written again after a failure: a session may be large, and the disk is full for all of them alike.
  ///
  /// - Units: the clock's `uptime`.
  private var nextRewrite = Duration.zero
  /// The same where a frontend has come to the session; the others do not wait for these.
  private var asked: CommitNumber?
  private var nextAsked = Duration.zero

  /// - Parameters:
  ///   - writer: The way to the journal.
  ///   - epoch: Never used before in what outlives the process.
  ///   - clock: Measures the time between attempts.
  ///   - failed: Called with the reason of each commit that has failed.
  init(
    _ writer: JournalWriter, epoch: UInt64, clock: any StoreClock,
    failed: @escaping (any Error) -> Void
  ) {
    self.writer = writer
    self.clock = clock
    self.epoch = epoch
    self.failed = failed
  }

  func load() throws -> JournalContents { try writer.load() }

  /// Reads which sessions there are, and calls `body` on the shard's thread.
  func overview(
    _ body: @escaping @Sendable (Result<JournalOverview, any Error>) -> Void
  ) {
    openQuestions += 1
    writer.overview(ended: body)
  }

  /// Loads one session, and calls `body` on the shard's thread.
  func load(
    _ session: SessionHandle,
    _ body: @escaping @Sendable (Result<LoadedSession, any Error>) -> Void
  ) {
    openQuestions += 1
    writer.load(session, ended: body)
  }

  /// The journal has given what it was asked for.
  func answered() { openQuestions -= 1 }

  /// True if commits end before `turnEnded` returns, and what the journal is asked for is there immediately.
  var isSynchronous: Bool { writer.isSynchronous }

  var crashes: (any CrashCounter)? { writer.crashes }

  /// Adds an entry to the turn in hand.
  ///
  /// - Returns: The commit of the turn.
  @discardableResult
  func add(_ event: JournalEntry.Event, to session: SessionHandle) -> CommitNumber {
    entries.append(JournalEntry(session, event))
    entryBytes += event.byteCount
    return current
  }

  /// True if the turn in hand has entries.
  var hasEntries: Bool { !entries.isEmpty }

  /// The commits that bytes have to wait for which a client receives now; nil if none.
  ///
  /// - Parameters:
  ///   - record: The session that the client is in.
  ///   - earlier: The commits of the sessions that it was in before.
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

  /// Notifies an observer no more.
  func remove(_ observer: any CommitObserver) { observers.removeAll { $0 === observer } }

  /// Notifies an observer of the next commit that ends.
  func add(_ observer: any CommitObserver) { observers.append(observer) }

  /// Calls `body` once all commits have ended.
  func whenIdle(_ body: @escaping () -> Void) {
    if isIdle { body() } else { whenIdle.append(body) }
  }

  private var isIdle: Bool { !hasEntries && lastEnded.next == current && openQuestions == 0 }

  func hold(_ work: any HeldWork, of record: SessionRecord) { self.work.append((work, record)) }

  /// Takes the end of a commit.
  func take(_ result: CommitResult) { results.append(result) }

  /// The turn ends: commits its entries, and continues with what waits for commits that have ended.
  func turnEnded(_ shard: isolated Shard) {
    repeat {
      for result in takeResults() { ended(result, shard) }
      noteContinuing(shard)
      commit()
      rewriteIncomplete(shard)
      beginWork()
    } while !results.isEmpty
    if isIdle, !whenIdle.isEmpty {
      let bodies = whenIdle
      whenIdle = []
      for body in bodies { body() }
    }
  }

  /// The journal may have to say something else of a session that no frontend is attached to.
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
    writer.commit(&entries, byteCount: byteCount, number, ended: notify)
  }

  private func ended(_ result: CommitResult, _ shard: isolated Shard) {
    lastEnded = result.last
    for failure in result.failures { take(failure, shard) }
    if let rewriting, rewriting <= lastEnded { self.rewriting = nil }
    let notified = observers
    observers = []
    for observer in notified { observer.committed(result, isolation: shard) }
    let count = waitingWork.prefix { $0.number <= lastEnded }.count
    let ready = waitingWork.prefix(count)
    waitingWork.removeFirst(count)
    for (_, work, record) in ready { begin(work, record) }
  }

  private func take(_ failure: CommitResult.Failure, _ shard: isolated Shard) {
    let retry = clock.uptime + Self.timeBetweenRewrites
    if let asked, failure.numbers.contains(asked) {
      nextAsked = retry
    } else {
      nextRewrite = retry
    }
    if !(failure.error is IncompleteSession) { failed(failure.error) }
    for handle in failure.sessions { lost(handle, failure.numbers.upperBound, shard) }
  }

  /// The journal has lost something of sessions, all of whose commits had ended well.
  func lost(_ sessions: Set<SessionHandle>, _ shard: isolated Shard) {
    for handle in sessions { lost(handle, lastEnded, shard) }
  }

  private func lost(_ handle: SessionHandle, _ number: CommitNumber, _ shard: isolated Shard) {
    guard let session = shard.directory[handle], let record = session.record else { return }
    let isKnown = record.isIncomplete
    guard record.failed(number) else { return }
    if !isKnown { incomplete.append(handle) }
    // Also clients that received nothing: they may wait for work that begins only once the session is written.
    session.letGo()
  }

  // MARK: Work

  private func beginWork() {
    guard !work.isEmpty else { return }
    let ready = work
    work = []
    for (work, record) in ready {
      if record.lastCommit > lastEnded {
        // All that were begun: so the work stays in order.
        waitingWork.append((CommitNumber(rawValue: current.rawValue - 1), work, record))
      } else {
        begin(work, record)
      }
    }
  }

  private func begin(_ work: any HeldWork, _ record: SessionRecord) {
    if record.isIncomplete { record.work.append(work) } else { work.beginNext() }
  }

  // MARK: Sessions that are incomplete

  /// Writes a session as a whole in the turn in hand, since a frontend in it is to receive something.
  ///
  /// - Returns: False if it is too early for that.
  func complete(_ session: Session) -> Bool {
    guard let record = session.record, record.isIncomplete else { return true }
    guard clock.uptime >= nextAsked, !session.isEnded else { return false }
    asked = current
    record.rewrite(session)
    return true
  }

  /// Writes sessions that are incomplete as a whole, one commit after the other, since no frontend may come to them any more.
  private func rewriteIncomplete(_ shard: isolated Shard) {
    guard !incomplete.isEmpty, rewriting == nil, clock.uptime >= nextRewrite else { return }
    while !incomplete.isEmpty {
      let session = shard.directory[incomplete.removeFirst()]
      guard let session, let record = session.record, record.isIncomplete else { continue }
      rewriting = current
      record.rewrite(session)
      return commit()
    }
  }

  private static var timeBetweenRewrites: Duration { .seconds(1) }
}

extension JournalEntry.Event {
  /// About how many bytes it holds.
  fileprivate var byteCount: Int {
    let texts =
      switch self {
      case .store(_, .opened(_, let configuration, _)): configuration.count
      case .store(_, .state(let state, _)): state?.expectedBytes ?? 0
      case .store(_, .step(let patch, _, let frame)): (patch?.count ?? 0) + (frame?.count ?? 0)
      case .store(_, .accepted(_, _, let input, _)): input?.count ?? 0
      default: 0
      }
    return texts + 64
  }
}
