// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// A writer that commits the entries of all shards to a journal, those of each shard in order. The
/// entries of all turns that wait share one transaction.
///
/// A failed transaction is repeated turn by turn, so that a turn that cannot be committed does not
/// affect others. After a failure, the journal lacks entries of the turn's sessions. Later entries
/// of these sessions fail too, until an entry that replaces everything before it. If more than
/// `maximumBytes` wait because the disk is slow, further turns fail.
///
/// In a `PipelinedJournal`, some transactions are in progress at a time; the turns that wait for one
/// of them to end share the next one. After a failure, all transactions that were in progress are
/// repeated turn by turn before others begin.
public final class JournalWriter: @unchecked Sendable {
  // @unchecked because `load` uses `journal` and `incomplete` before there are commits, and after
  // that only one job of the commit thread at a time uses them.

  private let journal: any SessionJournal
  /// The journal, if commits do not block the thread; otherwise nil.
  private let pipeline: (any PipelinedJournal)?
  /// Runs a closure on the thread of commits; nil if the shard waits for each commit.
  private let commit: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
  private let waiting = Lock(Waiting())
  private var incomplete: Set<SessionHandle> = []
  private let durations = DurationHistogram(JournalMetrics.bounds)
  /// The start of the journal, until each shard has its part; nil before it was read.
  private var start: (read: Result<JournalStart, any Error>, shards: Int)?

  private struct Waiting {
    var entries: [JournalEntry] = []
    var turns: [Turn] = []
    /// The approximate size of the entries that have not been committed, in bytes.
    var byteCount = 0
    /// True while a thread commits or has been asked to commit, and while turns wait for the end of a
    /// transaction.
    var isCommitting = false
    /// The transactions that are in progress, oldest first.
    var transactions: [Transaction] = []
    /// The number of these that have ended after the first failure.
    var failedCount = 0
    /// The turns that have been committed or have failed, and the bytes of the committed ones.
    var ended = JournalMetrics.Ended()
    /// Called with the ended commits of each shard.
    var whenEnded: [(@Sendable (CommitResult) -> Void)?] = []
    /// Called with sessions of each shard of which the journal has lost entries.
    var lost: [(@Sendable (Set<SessionHandle>) -> Void)?] = []

    /// Adds a turn whose entries are discarded. Consecutive turns of this kind share one element.
    mutating func add(lost sessions: Set<SessionHandle>, _ shard: Int, _ number: CommitNumber) {
      if let last = turns.indices.last, turns[last].lost != nil, turns[last].shard == shard {
        turns[last].lost?.formUnion(sessions)
        turns[last].numbers = turns[last].numbers.lowerBound...number
      } else {
        turns.append(
          Turn(
            shard: shard, numbers: number...number, end: entries.count, byteCount: 0,
            lost: sessions))
      }
    }
  }

  /// A turn and the end of its entries, or several turns whose entries were discarded.
  private struct Turn {
    let shard: Int
    var numbers: ClosedRange<CommitNumber>
    let end: Int
    let byteCount: Int
    /// The sessions of the entries if the entries were discarded because too many bytes wait;
    /// otherwise nil.
    var lost: Set<SessionHandle>?
  }

  /// A transaction of a pipelined journal, with its turns.
  private struct Transaction {
    let entries: [JournalEntry]
    let turns: [Turn]
    let began = ContinuousClock.now
    /// The error, if it has failed; also if an earlier one has failed.
    var error: (any Error)?
  }

  /// The failures of commits, each with the index of its shard.
  typealias Failures = [(shard: Int, failure: CommitResult.Failure)]

  /// The maximum size of the waiting entries, in bytes. A larger turn is accepted if nothing else
  /// waits.
  public let maximumBytes: Int

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - journal: The journal; there is no writer without one.
  ///   - commit: Runs a closure on a thread that may block, after all closures that were passed
  ///     before; nil if a single shard waits for each commit.
  ///   - maximumBytes: The approximate maximum size of the waiting entries, in bytes.
  public init?(
    _ journal: sending (any SessionJournal)?,
    commit: (@Sendable (@escaping @Sendable () -> Void) -> Void)?, maximumBytes: Int = 64 << 20
  ) {
    guard let journal else { return nil }
    self.journal = journal
    self.commit = commit
    pipeline = commit == nil ? nil : journal as? any PipelinedJournal
    self.maximumBytes = maximumBytes
  }

  var crashes: (any CrashCounter)? { journal.crashes }

  /// The current metrics, which any thread can read.
  public var metrics: JournalMetrics {
    waiting.withLock { waiting in
      JournalMetrics(
        waitingTurns: waiting.turns.count + waiting.transactions.reduce(0) { $0 + $1.turns.count },
        waitingBytes: waiting.byteCount, ended: waiting.ended, durations: durations.reading)
    }
  }

  func load() throws -> JournalContents { try journal.load() }

  /// True if there is no commit thread.
  var isSynchronous: Bool { commit == nil }

  /// Sets the closures that are called on the commit thread for a shard.
  func set(
    _ place: ShardPlace, ended: (@Sendable (CommitResult) -> Void)? = nil,
    lost: (@Sendable (Set<SessionHandle>) -> Void)? = nil
  ) {
    waiting.withLock { waiting in
      while waiting.whenEnded.count < place.count {
        waiting.whenEnded.append(nil)
        waiting.lost.append(nil)
      }
      if let ended { waiting.whenEnded[place.index] = ended }
      if let lost { waiting.lost[place.index] = lost }
    }
  }

  /// Reads the start of the journal; once for all shards.
  ///
  /// - Returns: The part of one shard.
  private func readStart(of place: ShardPlace) throws -> JournalStart {
    let read = start?.read ?? Result { try journal.start() }
    let shards = (start?.shards ?? 0) + 1
    start = shards < place.count ? (read, shards) : nil
    return try read.get().part(of: place)
  }

  /// Reads what a shard needs before its first client.
  func start(
    of place: ShardPlace, ended: @escaping @Sendable (Result<JournalStart, any Error>) -> Void
  ) {
    perform({ writer in Result { try writer.readStart(of: place) } }, ended)
  }

  /// Reads which sessions of a shard have to be restored although no client attaches.
  func continuing(
    after position: Int64?, limit: Int, of place: ShardPlace,
    ended: @escaping @Sendable (Result<ContinuingSessions, any Error>) -> Void
  ) {
    perform(
      { writer in
        Result {
          var found = try writer.journal.continuing(after: position, limit: limit)
          found.handles.removeAll { !place.owns($0) }
          return found
        }
      }, ended)
  }

  /// Ends sessions that are not loaded and whose time is over, after all commits that have begun.
  func endExpired(
    at time: Duration, limit: Int, ended: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) {
    perform(
      { writer in Result { try writer.journal.endExpired(at: time, limit: limit) } }, ended)
  }

  /// Loads one session, after all commits that have begun.
  func load(
    _ session: SessionHandle, of place: ShardPlace,
    ended: @escaping @Sendable (Result<LoadedSession, any Error>) -> Void
  ) {
    if pipeline != nil, let commit {
      return commit { [self] in
        // Nothing of the session is in memory, so it continues as it is in the journal.
        incomplete.remove(session)
        pipeline?.beginLoading(session, ended: ended)
      }
    }
    perform(
      { writer in
        Result {
          var loaded = try writer.journal.load(session)
          // The existing entries of these sessions cannot be continued.
          writer.incomplete.formUnion(loaded.incomplete)
          if place.count > 1 { writer.distribute(&loaded.incomplete, place) }
          return loaded
        }
      }, ended)
  }

  /// Gives sessions up after all commits that have begun, and calls `ended` on any thread.
  func release(_ sessions: [SessionHandle], ended: @escaping @Sendable () -> Void) {
    commit? { [self] in pipeline?.beginReleasing(sessions) { _ in ended() } }
  }

  /// Removes sessions from the memory of the journal, after all commits that have begun.
  func forget(_ sessions: [SessionHandle]) {
    perform({ writer in writer.journal.forget(sessions) }, {})
  }

  /// Removes the sessions of other shards, and notifies these shards.
  private func distribute(_ incomplete: inout Set<SessionHandle>, _ place: ShardPlace) {
    let others = Dictionary(grouping: incomplete.filter { !place.owns($0) }) {
      $0.shard(of: place.count)
    }
    let lost = waiting.withLock { $0.lost }
    for (shard, sessions) in others { lost[shard]?(Set(sessions)) }
    incomplete = incomplete.filter(place.owns)
  }

  private func perform<Answer: Sendable>(
    _ job: @escaping @Sendable (JournalWriter) -> Answer,
    _ ended: @escaping @Sendable (Answer) -> Void
  ) {
    guard let commit else { return ended(job(self)) }
    commit { [self] in ended(job(self)) }
  }

  /// Commits the entries of one turn, after those of all earlier turns.
  ///
  /// - Parameters:
  ///   - entries: The entries, which are removed.
  ///   - byteCount: Their approximate size, in bytes.
  ///   - shard: The index of the shard.
  ///   - number: The number of the commit, one more than the previous one of the shard.
  func commit(
    _ entries: inout [JournalEntry], byteCount: Int, of shard: Int, _ number: CommitNumber
  ) {
    let isFirst = waiting.withLock { waiting in
      if waiting.byteCount > 0, waiting.byteCount + byteCount > maximumBytes {
        waiting.add(lost: Self.incomplete(without: entries), shard, number)
      } else {
        if waiting.entries.isEmpty {
          swap(&waiting.entries, &entries)
        } else {
          waiting.entries += entries
        }
        waiting.byteCount += byteCount
        waiting.turns.append(
          Turn(
            shard: shard, numbers: number...number, end: waiting.entries.count,
            byteCount: byteCount))
      }
      defer { waiting.isCommitting = true }
      return !waiting.isCommitting
    }
    entries.removeAll(keepingCapacity: entries.capacity <= Self.keptEntries)
    guard isFirst else { return }
    guard let commit else { return commitAll() }
    commit { [self] in if pipeline == nil { commitAll() } else { beginAll() } }
  }

  private func commitAll() {
    while true {
      let (entries, turns) = waiting.withLock { waiting in
        defer {
          waiting.isCommitting = !waiting.turns.isEmpty
          (waiting.entries, waiting.turns) = ([], [])
        }
        return (waiting.entries, waiting.turns)
      }
      guard !turns.isEmpty else { return }
      let began = ContinuousClock.now
      end(turns, failures(committing: entries, turns), since: began)
    }
  }

  /// Reports the end of turns to their shards.
  ///
  /// - Parameter began: The time at which their transaction began.
  private func end(_ turns: [Turn], _ failures: Failures, since began: ContinuousClock.Instant) {
    let duration = ContinuousClock.now - began
    let ended = waiting.withLock { waiting in
      for turn in turns { waiting.byteCount -= turn.byteCount }
      waiting.ended.add(turns.map { ($0.shard, $0.numbers, $0.byteCount) }, failures)
      // Within the lock, because transactions of a pipelined journal end on any thread.
      durations.add(duration)
      return waiting.whenEnded
    }
    for shard in ended.indices {
      guard let last = turns.last(where: { $0.shard == shard }) else { continue }
      ended[shard]?(
        CommitResult(
          last: last.numbers.upperBound,
          failures: failures.filter { $0.shard == shard }.map(\.failure)))
    }
  }

  // MARK: Pipelined commits

  /// Begins transactions with all turns that wait, on the commit thread.
  private func beginAll() {
    while let next = takeTransaction() {
      if next.isInOrder {
        pipeline?.begin(next.transaction.entries) { [self] in transactionEnded($0) }
      } else {
        // No other transaction is in progress.
        let (entries, turns) = (next.transaction.entries, next.transaction.turns)
        end(
          turns, failures(committing: entries, turns), since: next.transaction.began)
      }
    }
  }

  /// Takes the turns that wait.
  ///
  /// - Returns: Nil if there are none, or if they wait for a transaction in progress. `isInOrder` is
  ///   false if some entries must not be committed.
  private func takeTransaction() -> (transaction: Transaction, isInOrder: Bool)? {
    waiting.withLock { waiting in
      guard !waiting.turns.isEmpty else {
        waiting.isCommitting = false
        return nil
      }
      let isInOrder = incomplete.isEmpty && waiting.turns.allSatisfy { $0.lost == nil }
      let maximum = isInOrder ? Self.maximumTransactions : 1
      guard waiting.transactions.count < maximum, waiting.failedCount == 0 else { return nil }
      let transaction = Transaction(entries: waiting.entries, turns: waiting.turns, error: nil)
      (waiting.entries, waiting.turns) = ([], [])
      if isInOrder { waiting.transactions.append(transaction) }
      return (transaction, isInOrder)
    }
  }

  /// Handles the end of the oldest transaction that has not ended, on any thread.
  private func transactionEnded(_ result: Result<Void, any Error>) {
    let committed: Transaction? = waiting.withLock { waiting in
      if case .success = result, waiting.failedCount == 0 { return waiting.transactions[0] }
      return nil
    }
    // Before the transaction is removed: no later commit may end earlier.
    if let committed { end(committed.turns, [], since: committed.began) }
    let (begins, repeats) = waiting.withLock { waiting in
      if committed != nil {
        waiting.transactions.removeFirst()
        return (!waiting.turns.isEmpty, false)
      }
      if case .failure(let error) = result {
        waiting.transactions[waiting.failedCount].error = error
      }
      waiting.failedCount += 1
      return (false, waiting.failedCount == waiting.transactions.count)
    }
    if begins { commit? { [self] in beginAll() } }
    if repeats {
      commit? { [self] in
        repeatFailed()
        beginAll()
      }
    }
  }

  /// Repeats the transactions that have failed, turn by turn, on the commit thread.
  private func repeatFailed() {
    let failed = waiting.withLock { $0.transactions }
    for (position, transaction) in failed.enumerated() {
      var failures: Failures
      if position == 0, transaction.turns.count == 1, let error = transaction.error {
        // It is not repeated: there is no other turn to commit.
        let sessions = Self.incomplete(without: transaction.entries)
        incomplete.formUnion(sessions)
        let turn = transaction.turns[0]
        failures = [(turn.shard, .init(numbers: turn.numbers, sessions: sessions, error: error))]
      } else {
        failures = self.failures(committing: transaction.entries, transaction.turns)
      }
      end(transaction.turns, failures, since: transaction.began)
    }
    waiting.withLock { waiting in
      waiting.transactions = []
      waiting.failedCount = 0
      waiting.isCommitting = true
    }
  }

  /// While one transaction waits for the disk of the journal, the next ones are on their way. More
  /// would make transactions smaller.
  private static var maximumTransactions: Int { 3 }

  private func failures(
    committing entries: [JournalEntry], _ turns: [Turn]
  ) -> Failures {
    if incomplete.isEmpty, turns.allSatisfy({ $0.lost == nil }) {
      do {
        try journal.commit(entries)
        return []
      } catch {
        // A single turn has failed as a whole; there is no other turn to commit.
        if turns.count == 1 {
          let sessions = Self.incomplete(without: entries)
          incomplete = sessions
          let failure = CommitResult.Failure(
            numbers: turns[0].numbers, sessions: sessions, error: error)
          return [(turns[0].shard, failure)]
        }
      }
    }
    var failures: Failures = []
    var start = 0
    for turn in turns {
      if let lost = turn.lost {
        incomplete.formUnion(lost)
        let failure = CommitResult.Failure(
          numbers: turn.numbers, sessions: lost, error: SlowJournal())
        failures.append((turn.shard, failure))
      } else if let failure = failure(
        committing: Array(entries[start..<turn.end]), turn.numbers)
      {
        failures.append((turn.shard, failure))
      }
      start = turn.end
    }
    return failures
  }

  /// Commits the entries of one turn, except those of incomplete sessions.
  private func failure(
    committing entries: [JournalEntry], _ numbers: ClosedRange<CommitNumber>
  ) -> CommitResult.Failure? {
    var missing: Set<SessionHandle> = []
    var restored: Set<SessionHandle> = []
    let entries = entries.filter { entry in
      guard incomplete.contains(entry.session), !restored.contains(entry.session) else {
        return true
      }
      if entry.event.needsNothingBefore {
        restored.insert(entry.session)
        return true
      }
      missing.insert(entry.session)
      return false
    }
    do {
      if !entries.isEmpty { try journal.commit(entries) }
      incomplete.subtract(restored)
      guard !missing.isEmpty else { return nil }
      return CommitResult.Failure(
        numbers: numbers, sessions: missing, error: IncompleteSession())
    } catch {
      missing.formUnion(Self.incomplete(without: entries))
      incomplete.subtract(entries.lazy.filter { $0.event == .ended }.map(\.session))
      incomplete.formUnion(missing)
      return CommitResult.Failure(numbers: numbers, sessions: missing, error: error)
    }
  }

  /// Returns the sessions that are incomplete without some entries. A session that has ended is not
  /// incomplete: the next process restores it as it was journaled, and it expires.
  private static func incomplete(without entries: [JournalEntry]) -> Set<SessionHandle> {
    var sessions = Set(entries.map(\.session))
    for entry in entries where entry.event == .ended { sessions.remove(entry.session) }
    return sessions
  }

  // A larger array is released.
  private static var keptEntries: Int { 1024 }
}

/// The error of a commit that fails because an earlier entry of the session is missing.
struct IncompleteSession: Error {}

/// The error of a commit that fails because too many bytes wait for the disk.
struct SlowJournal: Error, CustomStringConvertible {
  var description: String {
    "the disk of the journal is too slow: more than 64 MiB wait for it; check the disk of --data-dir"
  }
}

extension JournalEntry.Event {
  /// True if the entry replaces everything that was journaled of the session before.
  fileprivate var needsNothingBefore: Bool {
    switch self {
    case .opened, .ended: true
    case .expires, .alone, .sequence, .keptAside, .keptRemoved, .store: false
    }
  }
}
