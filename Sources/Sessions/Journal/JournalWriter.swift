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
  // @unchecked because `load` uses `journal`, `incomplete` and `lost` before there are commits, and
  // after that only one job of the commit thread at a time uses them.

  private let journal: any SessionJournal
  /// The journal, if commits do not block the thread; otherwise nil.
  let pipeline: (any PipelinedJournal)?
  /// Runs a closure on the thread of commits; nil if the shard waits for each commit.
  let commit: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
  let waiting = Lock(Waiting())
  var incomplete: Set<SessionHandle> = []
  /// The sessions that shards have lost to other nodes, each with the last commit that can have
  /// entries of them. After it, their entries in the journal are no concern of this node.
  private var lost: [(sessions: [SessionHandle], shard: Int, last: CommitNumber)] = []
  private let durations = DurationHistogram(JournalMetrics.bounds)
  /// The start of the journal, until each shard has its part; nil before it was read.
  private var start: (read: Result<JournalStart, any Error>, shards: Int)?

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
        continueRecording(session)
        pipeline?.beginLoading(session, ended: ended)
      }
    }
    perform(
      { writer in
        Result {
          writer.continueRecording(session)
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

  /// Forgets sessions that other nodes may own.
  ///
  /// - Parameters:
  ///   - sessions: The sessions.
  ///   - shard: The index of their shard.
  ///   - last: The last commit that can have entries of them.
  func forget(_ sessions: [SessionHandle], of shard: Int, after last: CommitNumber) {
    perform(
      { writer in
        writer.lost.append((sessions, shard, last))
        writer.journal.forget(sessions)
      }, {})
  }

  /// Handles the loading of a session that may have been lost: it has entries again.
  private func continueRecording(_ session: SessionHandle) {
    for index in lost.indices { lost[index].sessions.removeAll { $0 == session } }
  }

  /// Removes the lost sessions of which no entries can come any more.
  ///
  /// - Parameter turns: The turns that have ended.
  func dropLost(after turns: [Turn]) {
    guard !lost.isEmpty else { return }
    lost.removeAll { sessions, shard, last in
      guard turns.contains(where: { $0.shard == shard && $0.numbers.upperBound >= last }) else {
        return false
      }
      incomplete.subtract(sessions)
      return true
    }
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

  private func perform<Output: Sendable>(
    _ job: @escaping @Sendable (JournalWriter) -> Output,
    _ ended: @escaping @Sendable (Output) -> Void
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
        waiting.add(LostEntries(entries), shard, number)
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
  func end(_ turns: [Turn], _ failures: Failures, since began: ContinuousClock.Instant) {
    let duration = ContinuousClock.now - began
    let ended = waiting.withLock { waiting in
      for turn in turns { waiting.byteCount -= turn.byteCount }
      waiting.ended.add(turns, failures)
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

  func failures(
    committing entries: [JournalEntry], _ turns: [Turn]
  ) -> Failures {
    defer { dropLost(after: turns) }
    if incomplete.isEmpty, turns.allSatisfy({ $0.lost == nil }) {
      do {
        try journal.commit(entries)
        return []
      } catch {
        // A single turn has failed as a whole; there is no other turn to commit.
        if turns.count == 1 {
          return [(turns[0].shard, failure(of: turns[0].numbers, LostEntries(entries), error))]
        }
      }
    }
    var failures: Failures = []
    var start = 0
    for turn in turns {
      if let lost = turn.lost {
        failures.append((turn.shard, failure(of: turn.numbers, lost, SlowJournal())))
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
    committing all: [JournalEntry], _ numbers: ClosedRange<CommitNumber>
  ) -> CommitResult.Failure? {
    var missing: Set<SessionHandle> = []
    var restored: Set<SessionHandle> = []
    let entries = all.filter { entry in
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
      return failure(of: numbers, LostEntries(all), error)
    }
  }

  private func failure(
    of numbers: ClosedRange<CommitNumber>, _ lost: LostEntries, _ error: any Error
  ) -> CommitResult.Failure {
    note(lost)
    return CommitResult.Failure(numbers: numbers, sessions: lost.incomplete, error: error)
  }

  /// Records which sessions are incomplete without some entries.
  func note(_ lost: LostEntries) {
    incomplete.formUnion(lost.incomplete)
    incomplete.subtract(lost.ended)
  }

  // A larger array is released.
  private static var keptEntries: Int { 1024 }
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
