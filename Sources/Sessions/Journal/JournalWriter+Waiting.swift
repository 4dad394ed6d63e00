// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

extension JournalWriter {
  /// The turns that wait for a commit, and the transactions in progress.
  struct Waiting {
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

    /// Adds a turn whose entries are discarded. Consecutive turns of this kind share one element for
    /// each shard.
    mutating func add(_ lost: LostEntries, _ shard: Int, _ number: CommitNumber) {
      let last = turns.indices.reversed().prefix { turns[$0].lost != nil }
        .first { turns[$0].shard == shard }
      if let last {
        turns[last].lost?.add(lost)
        turns[last].numbers = turns[last].numbers.lowerBound...number
      } else {
        turns.append(
          Turn(
            shard: shard, numbers: number...number, end: entries.count, byteCount: 0, lost: lost))
      }
    }
  }

  /// A turn and the end of its entries, or several turns whose entries were discarded.
  struct Turn {
    let shard: Int
    var numbers: ClosedRange<CommitNumber>
    let end: Int
    let byteCount: Int
    /// The sessions of the entries if the entries were discarded because too many bytes wait;
    /// otherwise nil.
    var lost: LostEntries?
  }

  /// The sessions of entries that are not in the journal.
  struct LostEntries {
    /// The sessions that are incomplete without the entries.
    private(set) var incomplete: Set<SessionHandle>
    /// The sessions that have ended. They are not incomplete, even if they were before: the next process
    /// restores them as they were journaled, and they expire.
    private(set) var ended: Set<SessionHandle>

    init(_ entries: [JournalEntry]) {
      ended = Set(entries.lazy.filter { $0.event == .ended }.map(\.session))
      incomplete = Set(entries.lazy.map(\.session)).subtracting(ended)
    }

    /// Adds the sessions of later entries.
    mutating func add(_ later: LostEntries) {
      ended.formUnion(later.ended)
      incomplete.formUnion(later.incomplete)
      incomplete.subtract(later.ended)
    }
  }

  /// A transaction of a pipelined journal, with its turns.
  struct Transaction {
    let entries: [JournalEntry]
    let turns: [Turn]
    let began = ContinuousClock.now
    /// The error, if it has failed.
    var error: (any Error)?
    /// True if it was committed although an earlier one had failed: it began before that was reported.
    var isCommitted = false
  }
}
