// SPDX-License-Identifier: Apache-2.0

internal import PostgresConnections
public import Sessions
internal import StateMachines

extension PostgresSessionJournal {
  /// Reads all sessions that this node may own, and owns them; see `SessionJournal`. For tests and
  /// for small databases.
  public func load() throws -> JournalContents {
    var contents = JournalContents()
    guard let id = node.id else { throw LeaseLost() }
    let ended = try run(PostgresTransaction(JournalStatements.ended))
    for row in 0..<ended.count {
      guard let handle = ended.uuid(row, 0) else { continue }
      contents.ended.append((SessionHandle(handle), ended.text(row, 1)))
    }
    let sessions = try run(PostgresTransaction(JournalStatements.sessions, .integer(id)))
    for row in 0..<sessions.count {
      guard let handle = sessions.uuid(row, 0) else { continue }
      let loaded = try load(SessionHandle(handle))
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

  /// Reads the size of the states that are kept aside; see `SessionJournal`. A node among others
  /// claims all sessions, also those that own shared stores.
  public func start() throws -> JournalStart {
    var start = JournalStart()
    let kept = try run(PostgresTransaction(JournalStatements.keptBytes))
    start.keptBytes = Int(kept.integer(0, 0) ?? 0)
    _ = try run(PostgresTransaction(JournalStatements.countLoad))
    return start
  }

  /// Claims sessions with work to continue, and blocks until that has ended; see `SessionJournal`.
  /// Those that were claimed are not found again, so there is no position.
  public func continuing(after position: Int64?, limit: Int) throws -> ContinuingSessions {
    let ended = AwaitedValue<Result<[SessionHandle], any Error>>()
    node.claimContinuing(limit: limit, ended: ended.signal)
    let handles = try ended.wait().get()
    return ContinuingSessions(handles, next: handles.count < limit ? nil : 0)
  }

  /// Ends sessions without an owner whose time is over, and blocks until that has ended; see
  /// `SessionJournal`.
  public func endExpired(at time: Duration, limit: Int) throws -> Int {
    let ended = AwaitedValue<Result<Int, any Error>>()
    node.endExpired(at: time, limit: limit, ended: ended.signal)
    return try ended.wait().get()
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
    guard state.withLock({ $0.prepareReading(as: id) }) else {
      guard ContinuousClock.now < deadline else { return ended(.failure(LeaseLost())) }
      return connection.after(.milliseconds(20)) { [weak self] in
        self?.proceed()
        self?.beginLoading(session, by: deadline, ended: ended)
      }
    }
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
        let loaded = Result { try self.loaded(session, results) }
        guard case .failure(is UnreadableSession) = loaded else { return ended(loaded) }
        // Another node may have a version of this program that can read it.
        node.noteUnreadable(session)
        let epoch = results[0].integer(0, 1) ?? 0
        let giveUp = PostgresTransaction(
          JournalStatements.giveUp, .uuid(session.uuid), .integer(id), .integer(epoch))
        connection.execute(giveUp, by: deadline) { _ in ended(loaded) }
      }
    }
  }

  private func loaded(
    _ session: SessionHandle, _ results: [PostgresRows]
  ) throws -> LoadedSession {
    switch SessionClaim(results[0]) {
    case .otherNode(let owner): throw SessionOnOtherNode(node: owner)
    case .ended(let owner): return LoadedSession(session: nil, ended: .init(owner: owner))
    case .unknown: return LoadedSession(session: nil)
    case .owned:
      let epoch = results[0].integer(0, 1) ?? 0
      let loaded: LoadedEntries
      do {
        loaded = try LoadedEntries(session, Self.rows(results[1]))
      } catch {
        throw UnreadableSession()
      }
      state.withLock { state in
        // A session in memory is ahead of its rows.
        guard state.sessions[session] == nil else { return }
        state.sessions[session] = LoggedSession(
          handle: session, epoch: epoch, progress: loaded.progress)
      }
      return LoadedSession(session: loaded.session)
    }
  }

  /// Executes a transaction that only reads, and blocks until it has ended.
  private func run(_ transaction: PostgresTransaction) throws -> PostgresRows {
    try connection.execute(transaction, within: options.patience)[0]
  }
}
