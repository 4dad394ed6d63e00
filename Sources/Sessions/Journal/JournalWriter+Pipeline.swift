// SPDX-License-Identifier: Apache-2.0

// Commits to a pipelined journal.

extension JournalWriter {
  /// Begins transactions with all turns that wait, on the commit thread.
  func beginAll() {
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
      switch result {
      case .success: waiting.transactions[waiting.failedCount].isCommitted = true
      case .failure(let error): waiting.transactions[waiting.failedCount].error = error
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
  ///
  /// If a later one was committed, they are not repeated, because that would be in another order: their
  /// sessions are incomplete, and are journaled as a whole.
  private func repeatFailed() {
    let failed = waiting.withLock { $0.transactions }
    let isOvertaken = failed.contains(where: \.isCommitted)
    for (position, transaction) in failed.enumerated() {
      let failures: Failures
      if transaction.isCommitted {
        failures = []
      } else if let error = transaction.error,
        isOvertaken || position == 0 && transaction.turns.count == 1
      {
        // It is not repeated; a first one of a single turn, because there is no other turn to commit.
        let lost = LostEntries(transaction.entries)
        note(lost)
        failures = transaction.turns.map { turn in
          (turn.shard, .init(numbers: turn.numbers, sessions: lost.incomplete, error: error))
        }
        dropLost(after: transaction.turns)
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
}
