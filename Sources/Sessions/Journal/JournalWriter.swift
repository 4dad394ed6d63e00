// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The number of a commit: those of one shard count from 1, in the order of their turns.
public struct CommitNumber: Hashable, Comparable, Sendable {
  let rawValue: UInt64

  var next: CommitNumber { CommitNumber(rawValue: rawValue + 1) }

  public static func < (one: CommitNumber, other: CommitNumber) -> Bool {
    one.rawValue < other.rawValue
  }
}

/// The commits that some bytes wait for.
public struct PendingCommits: Sendable {
  /// The one that ends last.
  public private(set) var last: CommitNumber
  /// Others whose failure loses the bytes as well; most often none.
  private var others: [CommitNumber] = []

  public init(last: CommitNumber) { self.last = last }

  public var all: [CommitNumber] { others + [last] }

  mutating func add(_ number: CommitNumber) {
    if number == last { return }
    others.append(min(number, last))
    last = max(number, last)
  }

  /// True if one of them has failed.
  public func haveFailed(in result: CommitResult) -> Bool {
    result.hasFailed(last) || others.contains(where: result.hasFailed)
  }
}

/// The end of some commits that followed one another.
public struct CommitResult: Sendable {
  /// The last of them.
  let last: CommitNumber
  /// In order.
  var failures: [Failure] = []

  /// Commits that followed one another, of which something is not in the journal.
  struct Failure: Sendable {
    let numbers: ClosedRange<CommitNumber>
    /// The sessions whose entries are missing.
    let sessions: Set<SessionHandle>
    let error: any Error
  }

  public var hasFailures: Bool { !failures.isEmpty }

  /// True if a commit is one of these or of those before.
  public func includes(_ number: CommitNumber) -> Bool { number <= last }

  /// True if something of a commit is not in the journal.
  ///
  /// - Complexity: O(log n) in the number of failures.
  public func hasFailed(_ number: CommitNumber) -> Bool {
    var (low, high) = (0, failures.count)
    while low < high {
      let middle = (low + high) / 2
      if failures[middle].numbers.upperBound < number { low = middle + 1 } else { high = middle }
    }
    return low < failures.count && failures[low].numbers.contains(number)
  }
}

/// The two threads of a journal: commits block one of them, and the other one is the shard's.
public struct JournalThreads: Sendable {
  let commit: @Sendable (@escaping @Sendable () -> Void) -> Void
  let notify: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// - Parameters:
  ///   - commit: Runs something on a thread that may block, after all it was given before.
  ///   - notify: Runs something on the thread of the shard, after all it was given before.
  public init(
    commit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    notify: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.commit = commit
    self.notify = notify
  }
}

/// Commits entries to a journal in order; those of all turns that wait share one transaction.
///
/// A transaction that fails is repeated turn by turn, so that a turn that cannot be written costs no other one. After a
/// failure the journal has a gap in these sessions: their later entries are failures too, until one that needs nothing of what
/// was written before. Where the disk is so slow that too many bytes wait, the next turns are failures as well.
final class JournalWriter: @unchecked Sendable {
  // @unchecked because `journal` and `incomplete` are used by `load`, before there are commits, and then by one job of the
  // commit thread at a time.

  private let journal: any SessionJournal
  private let threads: JournalThreads?
  private let waiting = Lock(Waiting())
  private var incomplete: Set<SessionHandle> = []

  private struct Waiting {
    var entries: [JournalEntry] = []
    var turns: [Turn] = []
    /// About how large the entries are that have not been committed.
    var byteCount = 0
    /// True while a thread commits, or is about to.
    var isCommitting = false

    /// Adds a turn whose entries are left out; one that follows another such turn takes no memory.
    mutating func add(lost sessions: Set<SessionHandle>, _ number: CommitNumber) {
      if let last = turns.indices.last, turns[last].lost != nil {
        turns[last].lost?.formUnion(sessions)
        turns[last].numbers = turns[last].numbers.lowerBound...number
      } else {
        turns.append(
          Turn(numbers: number...number, end: entries.count, byteCount: 0, lost: sessions))
      }
    }
  }

  /// A turn and where its entries end, or several turns whose entries were left out.
  private struct Turn {
    var numbers: ClosedRange<CommitNumber>
    let end: Int
    let byteCount: Int
    /// The sessions of the entries, if those were left out since too many waited; nil if not.
    var lost: Set<SessionHandle>?
  }

  /// A single larger turn is accepted if nothing else waits.
  private let maximumBytes: Int

  /// - Parameters:
  ///   - threads: Nil if the shard waits for each commit.
  ///   - maximumBytes: About how many bytes of entries may wait.
  init(
    _ journal: any SessionJournal, on threads: JournalThreads?, maximumBytes: Int = 64 << 20
  ) {
    self.journal = journal
    self.threads = threads
    self.maximumBytes = maximumBytes
  }

  var crashes: (any CrashCounter)? { journal.crashes }

  func load() throws -> JournalContents { try journal.load() }

  /// True if there is no commit thread.
  var isSynchronous: Bool { threads == nil }

  /// Reads which sessions there are.
  ///
  /// - Parameter ended: Called on the shard's thread; before this returns if there are no threads.
  func overview(ended: @escaping @Sendable (Result<JournalOverview, any Error>) -> Void) {
    perform({ writer in Result { try writer.journal.overview() } }, ended)
  }

  /// Loads one session, after all commits that have begun.
  ///
  /// - Parameter ended: Called on the shard's thread; before this returns if there are no threads.
  func load(
    _ session: SessionHandle,
    ended: @escaping @Sendable (Result<LoadedSession, any Error>) -> Void
  ) {
    perform(
      { writer in
        Result {
          let loaded = try writer.journal.load(session)
          // Nothing can follow on what is there of them.
          writer.incomplete.formUnion(loaded.incomplete)
          return loaded
        }
      }, ended)
  }

  private func perform<Answer: Sendable>(
    _ job: @escaping @Sendable (JournalWriter) -> Answer,
    _ ended: @escaping @Sendable (Answer) -> Void
  ) {
    guard let threads else { return ended(job(self)) }
    threads.commit { [self] in
      let answer = job(self)
      threads.notify { ended(answer) }
    }
  }

  /// Commits the entries of one turn, after those of all earlier ones.
  ///
  /// - Parameters:
  ///   - entries: The entries; taken out.
  ///   - byteCount: About how large they are.
  ///   - number: One more than the last one.
  ///   - ended: Called on the shard's thread with the end of this commit and of others; before this returns if there are no
  ///     threads.
  func commit(
    _ entries: inout [JournalEntry], byteCount: Int, _ number: CommitNumber,
    ended: @escaping @Sendable (CommitResult) -> Void
  ) {
    let isFirst = waiting.withLock { waiting in
      if waiting.byteCount > 0, waiting.byteCount + byteCount > maximumBytes {
        waiting.add(lost: Self.incomplete(without: entries), number)
      } else {
        if waiting.entries.isEmpty {
          swap(&waiting.entries, &entries)
        } else {
          waiting.entries += entries
        }
        waiting.byteCount += byteCount
        waiting.turns.append(
          Turn(numbers: number...number, end: waiting.entries.count, byteCount: byteCount))
      }
      defer { waiting.isCommitting = true }
      return !waiting.isCommitting
    }
    entries.removeAll(keepingCapacity: entries.capacity <= Self.keptEntries)
    guard isFirst else { return }
    guard let threads else { return commitAll(ended) }
    threads.commit { [self] in commitAll { result in threads.notify { ended(result) } } }
  }

  private func commitAll(_ ended: (CommitResult) -> Void) {
    while true {
      let (entries, turns) = waiting.withLock { waiting in
        defer {
          waiting.isCommitting = !waiting.turns.isEmpty
          (waiting.entries, waiting.turns) = ([], [])
        }
        return (waiting.entries, waiting.turns)
      }
      guard let last = turns.last else { return }
      let failures = failures(committing: entries, turns)
      waiting.withLock { waiting in
        for turn in turns { waiting.byteCount -= turn.byteCount }
      }
      ended(CommitResult(last: last.numbers.upperBound, failures: failures))
    }
  }

  private func failures(
    committing entries: [JournalEntry], _ turns: [Turn]
  ) -> [CommitResult.Failure] {
    if incomplete.isEmpty, turns.allSatisfy({ $0.lost == nil }) {
      do {
        try journal.commit(entries)
        return []
      } catch {
        // Where it was one turn, there is nothing that could be committed without it.
        if turns.count == 1 {
          let sessions = Self.incomplete(without: entries)
          incomplete = sessions
          return [
            CommitResult.Failure(numbers: turns[0].numbers, sessions: sessions, error: error)
          ]
        }
      }
    }
    var failures: [CommitResult.Failure] = []
    var start = 0
    for turn in turns {
      if let lost = turn.lost {
        incomplete.formUnion(lost)
        failures.append(
          CommitResult.Failure(numbers: turn.numbers, sessions: lost, error: SlowJournal()))
      } else if let failure = failure(
        committing: Array(entries[start..<turn.end]), turn.numbers)
      {
        failures.append(failure)
      }
      start = turn.end
    }
    return failures
  }

  /// Commits the entries of one turn, but for those of sessions that are incomplete.
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

  /// The sessions that are incomplete without some entries: not those that are over, which come back with the process, as
  /// they were, and expire.
  private static func incomplete(without entries: [JournalEntry]) -> Set<SessionHandle> {
    var sessions = Set(entries.map(\.session))
    for entry in entries where entry.event == .ended { sessions.remove(entry.session) }
    return sessions
  }

  // Releases the memory of a large turn.
  private static var keptEntries: Int { 1024 }
}

/// An earlier entry of the session is missing.
struct IncompleteSession: Error {}

/// The disk is so slow that too many bytes wait for it.
struct SlowJournal: Error, CustomStringConvertible {
  var description: String {
    "the disk of the journal is too slow: more than 64 MiB wait for it; check the disk of --data-dir"
  }
}

extension JournalEntry.Event {
  /// True if nothing that was written of the session before is needed any more.
  fileprivate var needsNothingBefore: Bool {
    switch self {
    case .opened, .ended: true
    case .expires, .alone, .sequence, .store: false
    }
  }
}
