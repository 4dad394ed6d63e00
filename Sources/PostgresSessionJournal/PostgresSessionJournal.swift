// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import PostgresConnections
public import Sessions
internal import StateMachines

/// The session journal in PostgreSQL.
///
/// The entries of a session in one transaction are one row of `statewire.entry`. A session is read by
/// folding its rows. When they have become as large as the session, they are folded into one.
///
/// Transactions are pipelined in one connection, and all of them are fenced (`statewire.fence`): one of
/// a node that does not own its sessions any more leaves nothing. After a lost connection, the database
/// says which transactions were committed, and the others are sent again. If that takes longer than
/// the patience, they fail.
///
/// One thread at a time calls the methods. Several journals of one node, for several shards, share
/// the node.
public final class PostgresSessionJournal: PipelinedJournal, Sendable {
  /// The limits of a journal.
  public struct Options: Sendable {
    /// The time for which transactions wait for a database that does not respond.
    public var patience = Duration.seconds(20)
    /// The number of ended sessions whose handles are kept.
    public var endedCount = 100_000
    /// The size of the later rows of a session below which they are never folded, in bytes.
    public var foldedBytes = 32 << 10

    /// Creates the default limits.
    public init() {}
  }

  let node: PostgresNode
  let connection: PostgresConnection
  let options: Options
  let state: Lock<JournalPipeline>
  private let refused: @Sendable (PostgresError?) -> Void

  /// Opens the journal of a node, whose tables exist.
  ///
  /// - Parameters:
  ///   - database: The address of the database.
  ///   - node: The node.
  ///   - options: The limits.
  ///   - connected: Called with each change of the connection to the database.
  ///   - refused: Called with the error when the database has refused commits for a while, for example
  ///     because its disk is full, so that they wait; and with nil when they do not wait any more.
  public init(
    _ database: PostgresAddress, node: PostgresNode, options: Options = .init(),
    connected: @escaping @Sendable (PostgresConnection.Change) -> Void = { _ in },
    refused: @escaping @Sendable (PostgresError?) -> Void = { _ in }
  ) {
    self.node = node
    self.refused = refused
    self.options = options
    let opened = Lock(Opened())
    connection = PostgresConnection(database, application: "statewire \(node.name)") { change in
      if case .connected = change { opened.withLock { $0.journal }?.reconnected() }
      connected(change)
    }
    state = Lock(JournalPipeline(node: node.id ?? 0))
    opened.withLock { $0.journal = self }
    restart()
  }

  /// Ends the connection, and blocks until its thread has ended. Transactions in progress are not
  /// reported any more. Not to be called in a callback.
  public func close() { connection.closeAndWait() }

  /// Ends the connection, and blocks until its thread has ended; see `PostgresConnection`.
  public func closeAndWait() { connection.closeAndWait() }

  // MARK: Commits

  /// Commits entries, and blocks until the commit has ended; see `SessionJournal`.
  public func commit(_ entries: [JournalEntry]) throws {
    let ended = AwaitedValue<Result<Void, any Error>>()
    begin(entries, ended: ended.signal)
    try ended.wait().get()
  }

  /// Begins to commit entries; see `PipelinedJournal`.
  public func begin(
    _ entries: [JournalEntry], ended: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    begin { $0.begin(entries, options, ended: ended) }
  }

  /// Begins to give sessions up; see `PipelinedJournal`.
  public func beginReleasing(
    _ sessions: [SessionHandle], ended: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    begin { $0.release(sessions, ended: ended) }
  }

  /// Removes sessions from memory; see `SessionJournal`.
  public func forget(_ sessions: [SessionHandle]) {
    state.withLock { state in
      for session in sessions { state.sessions[session] = nil }
    }
  }

  private func begin(_ body: (inout JournalPipeline) -> Void) {
    let isStuck = state.withLock { state in
      body(&state)
      send(&state)
      return state.isStuck
    }
    // On the thread of the connection, where all transactions end.
    if isStuck { connection.after(.zero) { [weak self] in self?.proceed() } }
  }

  /// Sends the transactions that were not sent.
  func send(_ state: inout JournalPipeline) {
    for (turns, number, generation) in state.takeUnsent() {
      let transaction = turns.transaction(generation, number: number)
      // One that cannot be sent is given up in the same time.
      connection.execute(transaction, by: .now + options.patience) { [weak self] result in
        self?.ended(number, generation.generation, result)
      }
    }
  }

  private func ended(
    _ number: Int64, _ generation: Int64, _ result: Result<[PostgresRows], PostgresError>
  ) {
    state.withLock { $0.ended(number, generation, result.map { _ in }) }
    proceed()
  }

  /// Reports the ends of transactions, and begins what has to follow.
  func proceed() {
    var next = state.withLock { $0.next(options) }
    while true {
      if case .began(let error)? = next.refusal { refused(error) }
      for report in next.reports { report() }
      // After the failures of a journal that has given up, so that the server is not ready in between.
      if case .ended? = next.refusal { refused(nil) }
      if let id = next.lostNode { node.lost(id) }
      if next.restarts { restart(after: next.pause) }
      for session in next.long { fold(session) }
      let isMore = state.withLock { $0.hasReports }
      guard isMore else { return }
      next = state.withLock { $0.next(options) }
    }
  }

  // MARK: After a lost connection

  /// The journal of a connection, which begins before the journal exists.
  private struct Opened {
    weak var journal: PostgresSessionJournal?
  }

  /// Begins a new generation also if no transaction was in progress: a node that buries this one ends
  /// the connection that the row of the writer names.
  private func reconnected() {
    state.withLock { $0.reconnected() }
    proceed()
  }

  private func restart(after pause: Duration) {
    guard pause > .zero else { return restart() }
    connection.after(pause) { [weak self] in self?.restart() }
  }

  /// Finds out which transactions were committed, and sends the others again.
  private func restart() {
    guard let id = node.id else {
      return connection.after(.milliseconds(100)) { [weak self] in self?.restart() }
    }
    let writer = state.withLock { $0.nodeID == id ? $0.writer : nil }
    let statement =
      writer.map { PostgresTransaction(JournalStatements.renewWriter, .integer($0.id)) }
      ?? PostgresTransaction(JournalStatements.addWriter, .integer(id))
    connection.execute(statement) { [weak self] result in
      self?.restarted(id, writer?.id, result)
    }
    watch()
  }

  private func restarted(
    _ node: Int64, _ writer: Int64?, _ result: Result<[PostgresRows], PostgresError>
  ) {
    switch result {
    case .failure:
      // The connection waits before it connects again; an error of the database may pass.
      connection.after(.milliseconds(100)) { [weak self] in self?.restart() }
    case .success(let rows) where rows[0].isEmpty:
      self.node.lost(node)
      state.withLock { $0.lost() }
      proceed()
    case .success(let rows):
      state.withLock { state in
        if let writer {
          state.restarted(
            (writer, rows[0].integer(0, 0) ?? 0), last: rows[0].integer(0, 1) ?? 0)
        } else {
          state.joined(node, writer: rows[0].integer(0, 0) ?? 0)
        }
        send(&state)
      }
      proceed()
    }
  }

  /// Gives up when the oldest transaction has waited for too long, also while the database accepts
  /// it and does not respond.
  private func watch() {
    let starts = state.withLock { state in
      defer { state.isWatched = true }
      return !state.isWatched
    }
    guard starts else { return }
    watchLater()
  }

  private func watchLater() {
    connection.after(options.patience / 4) { [weak self] in
      guard let self else { return }
      state.withLock { $0.giveUpIfLate(options.patience) }
      proceed()
      watchLater()
    }
  }

  // MARK: Folding

  /// Reads the rows of a session, and replaces them by one. Later rows may be on their way.
  private func fold(_ session: LoggedSession) {
    let id = state.withLock { $0.nodeID }
    let reading = PostgresTransaction(
      JournalStatements.entries, .uuid(session.handle.uuid), .integer(id))
    // because only this closure and the state, which are used under the lock, have the session.
    nonisolated(unsafe) let session = session
    connection.execute(reading) { [weak self] result in
      guard let self else { return }
      let loaded = try? LoadedEntries(session.handle, Self.rows(result.get()[0]))
      guard state.withLock({ $0.endReading(session, loaded) }) else { return }
      // After all other results that have arrived: the sessions share one transaction.
      connection.after(.zero) { [weak self] in
        self?.begin { $0.beginFolding() }
      }
    }
  }

  static func rows(_ rows: PostgresRows) -> [(number: Int64, data: [UInt8])] {
    (0..<rows.count).map { (rows.integer($0, 0) ?? 0, rows.bytes($0, 1) ?? []) }
  }
}
