// SPDX-License-Identifier: Apache-2.0

internal import PostgresConnections
internal import Sessions
internal import StateMachines

/// The transactions of a journal that have not ended, and the sessions that they change.
///
/// A value without I/O: `PostgresSessionJournal` sends what `takeUnsent` returns, passes the ends to
/// `ended`, and performs what `next` returns. Transactions have consecutive numbers, which the
/// database checks.
struct JournalPipeline {
  /// The sessions in memory.
  var sessions: [SessionHandle: LoggedSession] = [:]
  /// The id of the node.
  private(set) var nodeID: Int64
  /// The writer, in its present generation.
  private(set) var writer: (id: Int64, generation: Int64)?
  /// True while the ends of transactions are watched.
  var isWatched = false

  private var pending: [Pending] = []
  /// The number of the last transaction that is committed.
  private var last: Int64 = 0
  /// The number of transactions that were sent and have not ended.
  private var inProgress = 0
  /// The number of transactions of `pending` that were sent in this generation.
  private var sentCount = 0
  private var trouble: Trouble? = .restarting
  /// The number of generations in a row in which the database has refused the first transaction for a
  /// time, for example because its disk is full.
  private var refusals = 0
  /// The refusal for which commits wait; nil if there is none.
  private var refusal: PostgresError?
  /// True if the beginning of a refusal was reported, and its end was not.
  private var reportedRefusal = false
  /// True after transactions have failed because the database has not responded for too long.
  private var isDown = false
  /// True once another node may own the sessions.
  private var isLost = false
  private var reports: [() -> Void] = []
  private var long: [LoggedSession] = []
  /// The number of sessions that are being read to be folded.
  private var foldCount = 0
  private var folded: [PostgresTurns.Folded] = []

  init(node: Int64) { nodeID = node }

  private enum Trouble {
    /// The connection was lost: when all that was sent has ended, the writer begins a new generation.
    case lost
    /// The writer begins a new generation.
    case restarting
    /// A transaction has failed, and all after it fail too.
    case failed(any Error)
  }

  private struct Pending {
    let turns: PostgresTurns
    let since: ContinuousClock.Instant
    let ended: @Sendable (Result<Void, any Error>) -> Void
  }

  /// The error of a transaction after one that has failed.
  struct EarlierFailed: Error {}

  /// Commits wait for the sessions that are read before them.
  private static let maximumFolds = 16

  // MARK: Beginning

  /// Adds a transaction.
  mutating func begin(
    _ entries: [JournalEntry], _ options: PostgresSessionJournal.Options,
    ended: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    if refuses(ended) { return }
    let turns = PostgresTurns(
      entries, in: &sessions, node: nodeID, endedCount: Int64(options.endedCount))
    if trouble == nil, turns.hasUnknownSession { trouble = .failed(SessionOnOtherNode(node: nil)) }
    pending.append(Pending(turns: turns, since: .now, ended: ended))
  }

  /// Adds a transaction that gives sessions up.
  mutating func release(
    _ released: [SessionHandle], ended: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    if refuses(ended) { return }
    let turns = PostgresTurns(releasing: released, in: &sessions)
    pending.append(Pending(turns: turns, since: .now, ended: ended))
  }

  /// Fails a transaction if it cannot be sent in the near future.
  private mutating func refuses(
    _ ended: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) -> Bool {
    guard isDown || isLost, pending.isEmpty else { return false }
    let error: any Error = isLost ? LeaseLost() : Self.unavailable
    reports.append { ended(.failure(error)) }
    return true
  }

  /// True if the end of the transaction that was added last does not depend on the database.
  var isStuck: Bool {
    if case .failed = trouble { return inProgress == 0 }
    return !reports.isEmpty
  }

  /// Takes the end of the reading of a session that is folded.
  ///
  /// - Parameter loaded: The rows; nil if they could not be read.
  /// - Returns: True if `beginFolding` is to be called when all results that have arrived are taken.
  mutating func endReading(_ session: LoggedSession, _ loaded: LoadedEntries?) -> Bool {
    foldCount -= 1
    session.isCompacting = false
    guard let loaded, sessions[session.handle] === session,
      session.progress.number >= loaded.progress.number
    else { return false }
    folded.append(.init(session: session, progress: loaded.progress, data: loaded.folded()))
    return folded.count == 1
  }

  /// Adds the transaction that replaces the rows of all sessions that were read to be folded.
  mutating func beginFolding() {
    let folded = folded.filter { sessions[$0.session.handle] === $0.session }
    self.folded = []
    guard trouble == nil, !folded.isEmpty else { return }
    for one in folded {
      one.session.progress.laterBytes -= one.progress.laterBytes
      one.session.progress.baseBytes = one.data.count
      if let redacted = one.session.progress.redactedAt, redacted <= one.progress.number {
        one.session.progress.redactedAt = nil
      }
    }
    pending.append(
      Pending(turns: PostgresTurns(folding: folded), since: .now, ended: { _ in }))
  }

  /// Returns the transactions to be sent, and counts them as sent.
  mutating func takeUnsent() -> [(PostgresTurns, Int64, (id: Int64, generation: Int64))] {
    guard trouble == nil, let writer else { return [] }
    let unsent = pending[sentCount...].enumerated().map { offset, pending in
      (pending.turns, last + Int64(sentCount + offset + 1), writer)
    }
    sentCount = pending.count
    inProgress += unsent.count
    return unsent
  }

  // MARK: Ends

  /// Takes the end of a transaction. Ends come in the order in which transactions were sent.
  mutating func ended(
    _ number: Int64, _ generation: Int64, _ result: Result<Void, PostgresError>
  ) {
    inProgress -= 1
    guard let writer, generation == writer.generation else { return }
    switch result {
    case .success:
      committed(upTo: number)
    case .failure(let error):
      if error.sqlState == PostgresSchema.leaseIsOver {
        isLost = true
        trouble = .failed(LeaseLost())
      } else if trouble == nil {
        if error.sqlState == PostgresSchema.ownedElsewhere {
          trouble = .failed(SessionOnOtherNode(node: nil))
        } else if error.isTransient || error.sqlState == PostgresSchema.outOfOrder {
          trouble = .lost
          if error.isRefusedForATime { refused(error) }
        } else {
          trouble = .failed(error)
        }
      }
    }
  }

  /// Counts a refusal. The first two in a row are not reported: a deadlock, for example, passes.
  private mutating func refused(_ error: PostgresError) {
    refusals += 1
    if refusals == Self.reportedRefusals { refusal = error }
  }

  private static let reportedRefusals = 3

  private static let backoff = Backoff.exponential(
    base: .milliseconds(100), maximum: .seconds(1))

  /// Ends all transactions up to one: the database has accepted each only after the one before.
  private mutating func committed(upTo number: Int64) {
    let count = min(Int(number - last), pending.count)
    guard count > 0 else { return }
    for committed in pending[..<count] {
      reports.append { committed.ended(.success(())) }
      for (session, _) in committed.turns.before where sessions[session.handle] === session {
        long.append(session)
      }
    }
    pending.removeFirst(count)
    (refusals, refusal) = (0, nil)
    sentCount = max(0, sentCount - count)
    last = number
  }

  private mutating func failAll(_ error: any Error) {
    for (index, failed) in pending.enumerated() {
      let error = index == 0 ? error : EarlierFailed()
      reports.append { failed.ended(.failure(error)) }
    }
    for failed in pending.reversed() {
      for session in failed.turns.ended { sessions[session.handle] = session }
      for (session, progress) in failed.turns.before { session.progress = progress }
      for session in failed.turns.opened { sessions[session.handle] = nil }
    }
    pending = []
    sentCount = 0
    // The failures have a report of their own.
    if refusal != nil { (refusal, refusals) = (nil, 0) }
  }

  /// Fails all transactions if the oldest one has waited for too long.
  mutating func giveUpIfLate(_ patience: Duration) {
    guard let oldest = pending.first, ContinuousClock.now - oldest.since > patience else { return }
    failAll(Self.unavailable)
    isDown = true
    // The outcome of those that were sent is not known.
    if trouble == nil { trouble = .lost }
  }

  private static let unavailable = PostgresError(
    .unknown, "the database has not responded for too long; check --database")

  // MARK: Generations

  /// Begins with a new writer, without sessions: the node has joined, for the first time or again.
  mutating func joined(_ node: Int64, writer: Int64) {
    last = 0
    if self.writer != nil || nodeID != node {
      sessions = [:]
      failAll(LeaseLost())
    }
    nodeID = node
    isLost = false
    restarted((writer, 0), last: 0)
  }

  /// Records that there is a new connection.
  mutating func reconnected() {
    if writer != nil, trouble == nil { trouble = .lost }
  }

  /// Begins a new generation, in which the transactions after `last` are sent again.
  mutating func restarted(_ writer: (id: Int64, generation: Int64), last: Int64) {
    self.writer = writer
    guard last >= self.last else {
      // The database has lost transactions: it was restored, or replaced by a replica that was behind.
      return lost()
    }
    committed(upTo: last)
    self.last = last
    sentCount = 0
    isDown = false
    trouble = nil
  }

  /// Prepares the journal to read sessions of a node: begins a new writer if the node has joined again.
  ///
  /// - Returns: False until there is that writer: the journal then forgets sessions that were read before.
  mutating func prepareReading(as node: Int64) -> Bool {
    if nodeID == node { return !isLost }
    // Unless a new writer has begun.
    if !isLost, trouble == nil { lost() }
    return false
  }

  /// Records that this node does not own its sessions any more.
  mutating func lost() {
    isLost = true
    trouble = .failed(LeaseLost())
  }

  // MARK: Actions

  /// Actions that the changes of the state require, in this order.
  struct Next {
    /// Calls of `ended`.
    var reports: [() -> Void] = []
    /// The id of this node, if another one has removed it.
    var lostNode: Int64?
    /// True if the writer must begin a new generation.
    var restarts = false
    /// The time to wait before it begins.
    var pause = Duration.zero
    /// The sessions whose rows are to be folded.
    var long: [LoggedSession] = []
    /// The beginning or the end of a time in which the database refuses commits that wait.
    var refusal: RefusalChange?
  }

  enum RefusalChange: Equatable {
    case began(PostgresError)
    case ended
  }

  /// True if ends of transactions were not reported.
  var hasReports: Bool { !reports.isEmpty }

  /// Returns the actions that are necessary now.
  mutating func next(_ options: PostgresSessionJournal.Options) -> Next {
    var next = Next()
    if inProgress == 0 {
      switch trouble {
      case .failed(let error):
        failAll(error)
        if isLost {
          next.lostNode = nodeID
          next.restarts = true
          trouble = .restarting
        } else {
          trouble = nil
        }
      case .lost:
        next.restarts = true
        next.pause = Self.backoff.delay(before: refusals + 1)
        trouble = .restarting
      case .restarting, nil: break
      }
    }
    next.reports = reports
    reports = []
    if (refusal != nil) != reportedRefusal {
      reportedRefusal = refusal != nil
      next.refusal = refusal.map { .began($0) } ?? .ended
    }
    // Further ones get their turn after one of their next transactions.
    for session in long
    where session.isLong(options.foldedBytes) && trouble == nil && foldCount < Self.maximumFolds {
      session.isCompacting = true
      foldCount += 1
      next.long.append(session)
    }
    long = []
    return next
  }
}
