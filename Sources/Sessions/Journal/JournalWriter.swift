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

/// The end of some commits that followed one another.
public struct CommitResult: Sendable {
  /// The last of them.
  let last: CommitNumber
  var failures: [Failure] = []

  /// A commit of which something is not in the journal.
  struct Failure: Sendable {
    let number: CommitNumber
    /// The sessions whose entries are missing.
    let sessions: Set<SessionHandle>
    let error: any Error
  }

  /// True if a commit is one of these or of those before.
  public func includes(_ number: CommitNumber) -> Bool { number <= last }

  /// True if something of a commit is not in the journal.
  public func hasFailed(_ number: CommitNumber) -> Bool {
    failures.contains { $0.number == number }
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
  // @unchecked because `journal` and `incomplete` are used by `load`, before there are commits, and then by one call of
  // `commitAll` at a time.

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
  }

  /// A turn, and where its entries end.
  private struct Turn {
    let number: CommitNumber
    let end: Int
    let byteCount: Int
    /// The sessions of its entries, if those were left out since too many waited; nil if not.
    var lost: Set<SessionHandle>?
  }

  /// More bytes of one turn are committed, where no others wait.
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
        waiting.turns.append(
          Turn(
            number: number, end: waiting.entries.count, byteCount: 0,
            lost: Self.incomplete(without: entries)))
      } else {
        if waiting.entries.isEmpty {
          swap(&waiting.entries, &entries)
        } else {
          waiting.entries += entries
        }
        waiting.byteCount += byteCount
        waiting.turns.append(
          Turn(number: number, end: waiting.entries.count, byteCount: byteCount))
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
      ended(CommitResult(last: last.number, failures: failures))
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
          return [CommitResult.Failure(number: turns[0].number, sessions: sessions, error: error)]
        }
      }
    }
    var failures: [CommitResult.Failure] = []
    var start = 0
    for turn in turns {
      if let lost = turn.lost {
        incomplete.formUnion(lost)
        failures.append(
          CommitResult.Failure(number: turn.number, sessions: lost, error: SlowJournal()))
      } else if let failure = failure(
        committing: Array(entries[start..<turn.end]), turn.number)
      {
        failures.append(failure)
      }
      start = turn.end
    }
    return failures
  }

  /// Commits the entries of one turn, but for those of sessions that are incomplete.
  private func failure(
    committing entries: [JournalEntry], _ number: CommitNumber
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
      return CommitResult.Failure(number: number, sessions: missing, error: IncompleteSession())
    } catch {
      missing.formUnion(Self.incomplete(without: entries))
      incomplete.formUnion(missing)
      return CommitResult.Failure(number: number, sessions: missing, error: error)
    }
  }

  /// The sessions that are incomplete without some entries: not those that are over, which come back with the process, as
  /// they were, and expire.
  private static func incomplete(without entries: [JournalEntry]) -> Set<SessionHandle> {
    var sessions = Set(entries.map(\.session))
    for entry in entries where entry.event == .ended { sessions.remove(entry.session) }
    return sessions
  }

  // What one large turn has needed is given back.
  private static var keptEntries: Int { 1024 }
}

/// An earlier entry of the session is missing.
struct IncompleteSession: Error {}

/// The disk is so slow that too many bytes wait for it.
struct SlowJournal: Error, CustomStringConvertible {
  var description: String {
    "the journal is too slow: more bytes wait for its disk than may"
  }
}

extension JournalEntry.Event {
  /// True if nothing that was written of the session before is needed any more.
  fileprivate var needsNothingBefore: Bool {
    switch self {
    case .opened, .ended: true
    case .expires, .sequence, .store: false
    }
  }
}
