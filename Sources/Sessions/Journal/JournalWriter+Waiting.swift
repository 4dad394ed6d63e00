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
  struct Turn {
    let shard: Int
    var numbers: ClosedRange<CommitNumber>
    let end: Int
    let byteCount: Int
    /// The sessions of the entries if the entries were discarded because too many bytes wait;
    /// otherwise nil.
    var lost: Set<SessionHandle>?
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
