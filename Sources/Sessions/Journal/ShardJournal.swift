// SPDX-License-Identifier: Apache-2.0

/// One shard's part of the journal: the sessions that the shard owns.
struct ShardJournal: Sendable {
  private let writer: JournalWriter
  private let place: ShardPlace
  /// Runs a closure on the thread of the shard; nil if there is no commit thread.
  private let notify: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

  init(
    _ writer: JournalWriter, of place: ShardPlace,
    notify: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
  ) {
    precondition(
      notify == nil ? place.count == 1 : !writer.isSynchronous,
      "several shards need a commit thread")
    self.writer = writer
    self.place = place
    self.notify = notify
  }

  var crashes: (any CrashCounter)? { writer.crashes }

  /// True if commits and requests end before the call returns.
  var isSynchronous: Bool { writer.isSynchronous }

  func load() throws -> JournalContents { try writer.load() }

  /// Reads what the shard needs before its first client.
  ///
  /// - Parameter ended: Called on the shard's thread; before this returns if there is no commit
  ///   thread.
  func start(ended: @escaping @Sendable (Result<JournalStart, any Error>) -> Void) {
    writer.start(of: place, ended: onShard(ended))
  }

  /// Reads which sessions of the shard have to be restored although no client attaches.
  func continuing(
    after position: Int64?, limit: Int,
    ended: @escaping @Sendable (Result<ContinuingSessions, any Error>) -> Void
  ) {
    writer.continuing(after: position, limit: limit, of: place, ended: onShard(ended))
  }

  /// Ends sessions of all shards that are not loaded and whose time is over.
  func endExpired(
    at time: Duration, limit: Int, ended: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) {
    writer.endExpired(at: time, limit: limit, ended: onShard(ended))
  }

  /// Loads one session, after all commits that have begun.
  ///
  /// - Parameter ended: Called on the shard's thread; before this returns if there is no commit
  ///   thread.
  func load(
    _ session: SessionHandle,
    ended: @escaping @Sendable (Result<LoadedSession, any Error>) -> Void
  ) {
    writer.load(session, of: place, ended: onShard(ended))
  }

  /// Gives sessions up after all commits that have begun, and calls `ended` on any thread.
  func release(_ sessions: [SessionHandle], ended: @escaping @Sendable () -> Void) {
    writer.release(sessions, ended: ended)
  }

  /// Removes sessions from the memory of the journal, after all commits that have begun.
  func forget(_ sessions: [SessionHandle]) { writer.forget(sessions) }

  /// Forgets sessions that other nodes may own.
  ///
  /// - Parameter last: The last commit that can have entries of them.
  func forget(_ sessions: [SessionHandle], after last: CommitNumber) {
    writer.forget(sessions, of: place.index, after: last)
  }

  /// Commits the entries of one turn, after those of all earlier turns.
  ///
  /// - Parameters:
  ///   - entries: The entries, which are removed.
  ///   - byteCount: Their approximate size, in bytes.
  ///   - number: The number of the commit, one more than the previous one.
  func commit(_ entries: inout [JournalEntry], byteCount: Int, _ number: CommitNumber) {
    writer.commit(&entries, byteCount: byteCount, of: place.index, number)
  }

  /// Calls `body` on the shard's thread with the end of commits; before `commit` returns if there
  /// is no commit thread.
  func whenEnded(_ body: @escaping @Sendable (CommitResult) -> Void) {
    writer.set(place, ended: onShard(body))
  }

  /// Calls `body` on the shard's thread with sessions of which the journal has lost entries.
  func whenLost(_ body: @escaping @Sendable (Set<SessionHandle>) -> Void) {
    writer.set(place, lost: onShard(body))
  }

  private func onShard<Value: Sendable>(
    _ body: @escaping @Sendable (Value) -> Void
  ) -> @Sendable (Value) -> Void {
    guard let notify else { return body }
    return { value in notify { body(value) } }
  }
}
