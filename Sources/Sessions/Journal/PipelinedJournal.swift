// SPDX-License-Identifier: Apache-2.0

/// A journal that commits without blocking: several transactions are in progress at a time, for
/// example because the journal is on another machine.
///
/// `JournalWriter` uses these methods instead of `commit` and `load(_:)`, unless it waits for each
/// commit. It calls them on one thread at a time.
public protocol PipelinedJournal: SessionJournal {
  /// Begins to commit the entries of one or more turns, after all transactions that have begun
  /// before.
  ///
  /// Transactions end in the order in which they have begun. If one fails, all transactions that
  /// have begun before its end was reported fail too, so that the journal never has a gap.
  ///
  /// - Parameters:
  ///   - entries: The entries, in order.
  ///   - ended: Called once, on any thread. After a success all entries are durable; after a
  ///     failure either none of them is, or it is unknown, because the connection to the journal was
  ///     lost for a long time. Both are handled in the same way: nothing of the turns is sent, and
  ///     their sessions are journaled as a whole.
  func begin(
    _ entries: [JournalEntry], ended: @escaping @Sendable (Result<Void, any Error>) -> Void)

  /// Begins to read one session. No transaction with entries of the session is in progress.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - ended: Called once, on any thread; with `SessionOnOtherNode` if another node owns the
  ///     session.
  func beginLoading(
    _ session: SessionHandle,
    ended: @escaping @Sendable (Result<LoadedSession, any Error>) -> Void)

  /// Begins to give sessions up, after all transactions that have begun before: any node may claim
  /// them. Later entries of them fail. It ends as a transaction does.
  ///
  /// - Parameters:
  ///   - sessions: The sessions.
  ///   - ended: Called once, on any thread; after a failure this node still owns them.
  func beginReleasing(
    _ sessions: [SessionHandle], ended: @escaping @Sendable (Result<Void, any Error>) -> Void)
}
