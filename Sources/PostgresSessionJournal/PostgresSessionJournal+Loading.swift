// SPDX-License-Identifier: Apache-2.0

internal import PostgresConnections
public import Sessions
internal import StateMachines

extension PostgresSessionJournal {
  /// Reads all sessions that this node may own, and owns them; see `SessionJournal`. For tests and
  /// for small databases.
  public func load() throws -> JournalContents {
    var contents = JournalContents()
    let overview = try overview(countingLoad: false)
    contents.ended = overview.ended
    contents.damage = overview.damage
    for session in overview.sessions {
      let loaded = try load(session.handle)
      contents.sessions += [loaded.session].compactMap { $0 }
    }
    let kept = try run(PostgresTransaction(JournalStatements.kept))
    for row in 0..<kept.count {
      guard let session = kept.uuid(row, 0), let data = kept.bytes(row, 1),
        var reader = try? EntryReader(data), let state = try? reader.kept(SessionHandle(session))
      else {
        contents.damage.append("A state that was kept aside cannot be read.")
        continue
      }
      contents.kept.append(state)
    }
    let loads = try run(PostgresTransaction(JournalStatements.countLoad))
    contents.loads = UInt64(clamping: loads.integer(0, 0) ?? 0)
    return contents
  }

  /// Reads which sessions this node may own; see `SessionJournal`. A node among others uses
  /// `SessionOwnership` instead.
  public func overview() throws -> JournalOverview { try overview(countingLoad: true) }

  private func overview(countingLoad: Bool) throws -> JournalOverview {
    guard let id = node.id else { throw LeaseLost() }
    var overview = JournalOverview()
    let sessions = try run(PostgresTransaction(JournalStatements.sessions, .integer(id)))
    for row in 0..<sessions.count {
      guard let handle = sessions.uuid(row, 0) else { continue }
      overview.sessions.append(
        JournalOverview.Session(
          handle: SessionHandle(handle), owner: sessions.text(row, 1),
          deadline: sessions.integer(row, 2).map { .nanoseconds($0) },
          isEmpty: sessions.boolean(row, 3) ?? true, bytes: Int(sessions.integer(row, 4) ?? 0),
          continues: sessions.boolean(row, 5) ?? true))
    }
    let ended = try run(PostgresTransaction(JournalStatements.ended))
    for row in 0..<ended.count {
      guard let handle = ended.uuid(row, 0) else { continue }
      overview.ended.append((SessionHandle(handle), ended.text(row, 1)))
    }
    let kept = try run(PostgresTransaction(JournalStatements.keptBytes))
    overview.keptBytes = Int(kept.integer(0, 0) ?? 0)
    if countingLoad { _ = try run(PostgresTransaction(JournalStatements.countLoad)) }
    state.withLock { state in
      for session in overview.sessions where state.sessions[session.handle] == nil {
        state.dormant.insert(session.handle)
      }
    }
    return overview
  }

  /// Reads one session, and blocks until it is read; see `SessionJournal`.
  public func load(_ session: SessionHandle) throws -> LoadedSession {
    let ended = AwaitedValue<Result<LoadedSession, any Error>>()
    beginLoading(session, ended: ended.signal)
    return try ended.wait().get()
  }

  /// Begins to read one session, and claims it; see `PipelinedJournal`.
  public func beginLoading(
    _ session: SessionHandle,
    ended: @escaping @Sendable (Result<LoadedSession, any Error>) -> Void
  ) {
    beginLoading(session, by: .now + options.patience, ended: ended)
  }

  private func beginLoading(
    _ session: SessionHandle, by deadline: ContinuousClock.Instant,
    ended: @escaping @Sendable (Result<LoadedSession, any Error>) -> Void
  ) {
    guard let id = node.id else { return ended(.failure(LeaseLost())) }
    var reading = PostgresTransaction(
      JournalStatements.claim, .uuid(session.uuid), .integer(id))
    reading.append(JournalStatements.entries, .uuid(session.uuid), .integer(id))
    connection.execute(reading, by: deadline) { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error) where error.sqlState == PostgresSchema.leaseIsOver:
        node.lost(id)
        ended(.failure(LeaseLost()))
      case .failure(let error) where error.isTransient && ContinuousClock.now < deadline:
        connection.after(.milliseconds(100)) { [weak self] in
          self?.beginLoading(session, by: deadline, ended: ended)
        }
      case .failure(let error):
        ended(.failure(error))
      case .success(let results):
        ended(Result { try self.loaded(session, results) })
      }
    }
  }

  private func loaded(
    _ session: SessionHandle, _ results: [PostgresRows]
  ) throws -> LoadedSession {
    switch SessionClaim(results[0]) {
    case .elsewhere(let owner): throw SessionElsewhere(node: owner)
    case .ended, .unknown:
      state.withLock { _ = $0.dormant.remove(session) }
      return LoadedSession(session: nil)
    case .owned:
      let epoch = results[0].integer(0, 1) ?? 0
      let loaded: LoadedEntries
      do {
        loaded = try LoadedEntries(session, Self.rows(results[1]))
      } catch {
        throw UnreadableSession()
      }
      state.withLock { state in
        state.dormant.remove(session)
        // A session in memory is ahead of its rows.
        guard state.sessions[session] == nil else { return }
        state.sessions[session] = LoggedSession(
          handle: session, epoch: epoch, progress: loaded.progress)
      }
      return LoadedSession(session: loaded.session)
    }
  }

  /// Loads the sessions of the overview to which entries belong: these are claimed first.
  func loadDormant(in entries: [JournalEntry]) throws {
    let dormant = state.withLock { state in
      state.dormant.isEmpty
        ? [] : Set(entries.lazy.map(\.session)).intersection(state.dormant)
    }
    for session in dormant { _ = try load(session) }
  }

  /// Executes a transaction that only reads, and blocks until it has ended.
  private func run(_ transaction: PostgresTransaction) throws -> PostgresRows {
    try connection.execute(transaction, within: options.patience)[0]
  }
}

/// The rows of a session cannot be read: they are damaged, or a newer version of the program has
/// written them.
struct UnreadableSession: Error, CustomStringConvertible {
  var description: String {
    "the rows of a session in the database cannot be read; a newer version of this program may have written them"
  }
}
