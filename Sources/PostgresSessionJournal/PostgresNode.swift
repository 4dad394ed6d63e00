// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import PostgresConnections
public import Sessions
internal import StateMachines

/// This node among those that share a database: its lease, and the ownership of sessions.
///
/// The lease is a row of `statewire.node`. While the row exists, no other node owns a session of this
/// one; another node removes it only when the lease is over by the clock of the database. This node
/// counts its lease from the time at which it asked for it, by its monotonic clock, and less a margin:
/// so it stops before any other node may begin.
///
/// A lease that is over can be renewed as long as no other node has removed the row. After an outage
/// of the database, nodes have the time of one lease to do so before any of them removes others.
public final class PostgresNode: SessionOwnership {
  /// The name of the node.
  public let name: String

  private let address: String
  private let lease: Duration
  private let endedCount: Int
  private let connection: PostgresConnection
  private let changed: @Sendable (OwnershipChange) -> Void
  private let state = Lock(State())

  private struct State {
    /// The id of the row of the node; nil before it has joined and after it was lost.
    var id: Int64?
    /// The time at which the lease is over.
    var heldUntil: ContinuousClock.Instant?
    /// The time since which the node has had a lease without a gap.
    var heldSince: ContinuousClock.Instant?
    /// True while `lapsed` was reported.
    var hasLapsed = false
    /// True after `leave`.
    var hasLeft = false
    /// Sessions that this node cannot read, and does not claim to continue their work.
    var unreadable: Set<SessionHandle> = []
  }

  /// The most sessions that are known as unreadable; then they are all tried again.
  private static let maximumUnreadable = 10_000

  /// Joins the nodes of a database, and creates or migrates its tables. Blocks until that has
  /// succeeded or failed.
  ///
  /// A lease of the same name that has not ended is waited for: it may be of this node before its
  /// process was killed.
  ///
  /// - Parameters:
  ///   - database: The address of the database.
  ///   - name: The name of the node, unique among all nodes.
  ///   - address: The address at which other nodes reach it, as `HOST:PORT`.
  ///   - lease: The time after which other nodes may own the sessions of a node that does not renew
  ///     its lease; 0.5 s or more.
  ///   - endedCount: The number of ended sessions whose handles are kept, as in the options of the
  ///     journal.
  ///   - connected: Called with each change of the connection to the database.
  ///   - changed: Called on any thread, in order, after this initializer has returned.
  /// - Throws: `PostgresError`.
  public init(
    _ database: PostgresAddress, name: String, address: String, lease: Duration = .seconds(5),
    endedCount: Int = PostgresSessionJournal.Options().endedCount,
    connected: @escaping @Sendable (PostgresConnection.Change) -> Void = { _ in },
    changed: @escaping @Sendable (OwnershipChange) -> Void
  ) throws(PostgresError) {
    self.name = name
    self.address = address
    self.lease = max(lease, .milliseconds(500))
    self.endedCount = endedCount
    self.changed = changed
    connection = PostgresConnection(
      database, application: "statewire \(name)", statementTimeout: .seconds(10),
      changed: connected)
    try PostgresSchema.migrate(connection, within: .seconds(10))
    let deadline = ContinuousClock.now + self.lease * 2 + .seconds(5)
    while true {
      let begun = ContinuousClock.now
      let rows = try connection.execute(joining, within: .seconds(10))
      if let id = rows[1].isEmpty ? nil : rows[1].integer(0, 0) {
        joined(id, at: begun)
        break
      }
      guard ContinuousClock.now < deadline else {
        throw PostgresError(
          .refused, "another node has the name \(name): give each node a name of its own")
      }
      // The server has not started yet, and the lease of this name ends without a notice.
      Thread.sleep(forTimeInterval: 0.1)
    }
    renewLater()
  }

  /// Ends the connection, and blocks until its thread has ended; the lease is not given up. Not to be
  /// called in a callback.
  public func close() { connection.closeAndWait() }

  /// Ends the connection, and blocks until its thread has ended; see `PostgresConnection`.
  public func closeAndWait() { connection.closeAndWait() }

  /// The id of this node; nil while it has none.
  var id: Int64? { state.withLock { $0.id } }

  /// True while no other node may own the sessions of this one.
  public var isHeld: Bool {
    state.withLock { state in state.heldUntil.map { ContinuousClock.now < $0 } ?? false }
  }

  // MARK: The lease

  /// The time by which this node ends its lease earlier than others: the clocks of two machines do
  /// not run equally fast.
  private var margin: Duration { lease / 10 }

  private var milliseconds: PostgresParameter {
    .integer(lease.nanoseconds / 1_000_000)
  }

  private var joining: PostgresTransaction {
    var transaction = PostgresTransaction(Self.buryName, .text(name))
    transaction.append(
      Self.join, .text(name), .text(address), .integer(Int64(PostgresSchema.steps.count)),
      milliseconds)
    return transaction
  }

  private func joined(_ id: Int64, at begun: ContinuousClock.Instant) {
    state.withLock { state in
      state.id = id
      (state.heldSince, state.heldUntil) = (begun, begun + lease - margin)
      state.hasLapsed = false
    }
  }

  private func renewLater() {
    connection.after(lease / 5) { [weak self] in self?.renew() }
  }

  private func renew() {
    let (id, hasLeft, lapsed): (Int64?, Bool, Bool) = state.withLock { state in
      let isOver = state.heldUntil.map { ContinuousClock.now >= $0 } ?? false
      let lapsed = isOver && !state.hasLapsed && state.id != nil
      if lapsed {
        state.hasLapsed = true
        state.heldSince = nil
      }
      return (state.id, state.hasLeft, lapsed)
    }
    if hasLeft { return }
    if lapsed { changed(.lapsed) }
    let begun = ContinuousClock.now
    guard let id else {
      return connection.execute(joining, by: begun + lease / 5) { [weak self] result in
        if case .success(let rows) = result, let id = rows[1].isEmpty ? nil : rows[1].integer(0, 0)
        {
          self?.joined(id, at: begun)
          self?.changed(.held)
        }
        self?.renewLater()
      }
    }
    let renewal = PostgresTransaction(Self.renewal, .integer(id), milliseconds)
    connection.execute(renewal, by: begun + lease / 5) { [weak self] result in
      self?.renewed(id, begun, result)
    }
  }

  private func renewed(
    _ id: Int64, _ begun: ContinuousClock.Instant, _ result: Result<[PostgresRows], PostgresError>
  ) {
    defer { renewLater() }
    guard case .success(let rows) = result else { return }
    if rows[0].isEmpty { return lost(id) }
    let (isBack, buries): (Bool, Bool) = state.withLock { state in
      guard state.id == id else { return (false, false) }
      state.heldUntil = begun + lease - margin
      defer { state.hasLapsed = false }
      let since = state.heldSince ?? begun
      state.heldSince = since
      return (state.hasLapsed, begun - since >= lease)
    }
    if isBack { changed(.held) }
    if rows[0].boolean(0, 1) == true { changed(.drains) }
    if buries { connection.execute(PostgresTransaction(Self.buryDead, .integer(id))) { _ in } }
  }

  /// Records that another node has removed this one, and reports `lost`.
  func lost(_ id: Int64) {
    let isNew = state.withLock { state in
      guard state.id == id, !state.hasLeft else { return false }
      (state.id, state.heldUntil, state.heldSince, state.hasLapsed) = (nil, nil, nil, false)
      return true
    }
    if isNew { changed(.lost) }
  }

  /// True if this node has had its lease for so long that others would have renewed theirs.
  private var mayBury: Bool {
    state.withLock { state in
      guard let since = state.heldSince, let until = state.heldUntil else { return false }
      let now = ContinuousClock.now
      return now < until && now - since >= lease
    }
  }

  // MARK: Sessions

  /// Claims a session that no living node owns; see `SessionOwnership`.
  public func claim(
    _ session: SessionHandle,
    ended: @escaping @Sendable (Result<SessionClaim, any Error>) -> Void
  ) {
    guard let id else { return ended(.failure(LeaseLost())) }
    let claiming = PostgresTransaction(
      JournalStatements.claim, .uuid(session.uuid), .integer(id))
    execute(claiming) { [weak self] result in
      let claim = result.map { SessionClaim($0[0]) }
      // The owner may have died just now.
      guard let self, case .success(.otherNode(let node)) = claim, node.leaseLeft < .zero, mayBury
      else { return ended(claim) }
      var again = PostgresTransaction(Self.buryDead, .integer(id))
      again.append(JournalStatements.claim, .uuid(session.uuid), .integer(id))
      execute(again) { result in ended(result.map { SessionClaim($0[1]) }) }
    }
  }

  /// Claims sessions with work to continue; see `SessionOwnership`.
  public func claimContinuing(
    limit: Int, ended: @escaping @Sendable (Result<[SessionHandle], any Error>) -> Void
  ) {
    guard let id else { return ended(.failure(LeaseLost())) }
    let unreadable = state.withLock { $0.unreadable.map(\.uuid) }
    let claiming = PostgresTransaction(
      Self.continuing, .integer(id), .integer(Int64(limit)), .uuids(unreadable))
    execute(claiming) { result in
      ended(
        result.map { results in
          (0..<results[0].count).compactMap { results[0].uuid($0, 0).map(SessionHandle.init) }
        })
    }
  }

  /// Notes that this node cannot read a session.
  func noteUnreadable(_ session: SessionHandle) {
    state.withLock { state in
      if state.unreadable.count >= Self.maximumUnreadable { state.unreadable = [] }
      state.unreadable.insert(session)
    }
  }

  /// Ends sessions whose time is over; see `SessionOwnership`.
  public func endExpired(
    at time: Duration, limit: Int,
    ended: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) {
    guard let id else { return ended(.failure(LeaseLost())) }
    var ending = PostgresTransaction(
      Self.expire, .integer(id), .integer(time.nanoseconds), .integer(Int64(limit)))
    ending.append(
      JournalStatements.forgetEnded, .integer(Int64(endedCount)))
    execute(ending) { result in ended(result.map { Int($0[0].integer(0, 0) ?? 0) }) }
  }

  /// Reads the nodes that have a lease; see `SessionOwnership`.
  public func nodes(ended: @escaping @Sendable (Result<[ClusterNode], any Error>) -> Void) {
    execute(PostgresTransaction(Self.nodes)) { result in
      ended(result.map { ClusterNode.all($0[0]) })
    }
  }

  /// Gives all sessions and the lease up; see `SessionOwnership`.
  public func leave(ended: @escaping @Sendable (Result<Void, any Error>) -> Void) {
    let id = state.withLock { state in
      defer {
        state.hasLeft = true
        (state.id, state.heldUntil) = (nil, nil)
      }
      return state.id
    }
    guard let id else { return ended(.success(())) }
    execute(PostgresTransaction(Self.leave, .integer(id))) { result in ended(result.map { _ in }) }
  }

  /// Executes a transaction that may be repeated, if it can be sent within the time of a lease.
  private func execute(
    _ transaction: PostgresTransaction,
    ended: @escaping @Sendable (Result<[PostgresRows], any Error>) -> Void
  ) {
    let deadline = ContinuousClock.now + lease
    connection.execute(transaction, by: deadline) { [weak self] result in
      if case .failure(let error) = result {
        if error.sqlState == PostgresSchema.leaseIsOver {
          if let self, let id { lost(id) }
          return ended(.failure(LeaseLost()))
        }
        if let self, error.outcome == .unknown, ContinuousClock.now < deadline {
          return execute(transaction, ended: ended)
        }
      }
      ended(result.mapError { $0 })
    }
  }

  private static let buryName = PostgresStatement(
    "bury name",
    """
    SELECT statewire.bury(id) FROM statewire.node
      WHERE name = $1 AND lease_end < clock_timestamp()
    """)
  private static let join = PostgresStatement(
    "join",
    """
    INSERT INTO statewire.node (name, address, version, lease_end)
      VALUES ($1, $2, $3::bigint, clock_timestamp() + $4::bigint * interval '1 millisecond')
      ON CONFLICT (name) DO NOTHING RETURNING id
    """)
  private static let renewal = PostgresStatement(
    "renew",
    """
    UPDATE statewire.node
      SET lease_end = clock_timestamp() + $2::bigint * interval '1 millisecond'
      WHERE id = $1 RETURNING id, drains
    """)
  private static let buryDead = PostgresStatement(
    "bury dead",
    """
    SELECT statewire.bury(id) FROM statewire.node
      WHERE lease_end < clock_timestamp() AND id <> $1
    """)
  private static let continuing = PostgresStatement(
    "continuing",
    """
    SELECT handle FROM (
      SELECT handle FROM statewire.session WHERE continues
        AND (node IS NULL OR NOT EXISTS (SELECT FROM statewire.node WHERE id = session.node))
        AND handle <> ALL ($3::uuid[])
        ORDER BY position LIMIT $2
    ) AS candidate, LATERAL statewire.claim(handle, $1) AS claimed WHERE outcome = 'owned'
    """)
  private static let expire = PostgresStatement("expire", "SELECT statewire.expire($1, $2, $3)")
  static let nodes = PostgresStatement(
    "nodes",
    """
    SELECT name, address,
        (extract(epoch FROM lease_end - clock_timestamp()) * 1000)::bigint
      FROM statewire.node ORDER BY name
    """)
  private static let leave = PostgresStatement(
    "leave", "DELETE FROM statewire.node WHERE id = $1")
}

extension SessionClaim {
  /// Converts the result of `statewire.claim`.
  init(_ rows: PostgresRows) {
    let owner = rows.text(0, 5)
    switch rows.text(0, 0) {
    case "owned": self = .owned
    case "elsewhere":
      self = .otherNode(
        ClusterNode(
          name: rows.text(0, 2) ?? "", address: rows.text(0, 3) ?? "",
          leaseLeft: .milliseconds(rows.integer(0, 4) ?? 0)))
    case "ended": self = .ended(owner: owner)
    default: self = .unknown
    }
  }
}
