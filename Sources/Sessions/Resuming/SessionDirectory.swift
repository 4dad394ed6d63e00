// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import StateMachines

/// The loaded sessions of a shard that have a handle, and the handles of sessions that have ended.
struct SessionDirectory {
  private var sessions: [SessionHandle: Session] = [:]
  /// The number of sessions of each identity.
  private var counts: [ByteString: Int] = [:]
  private var deadlines = Deadlines()
  private var ended = EndedHandles()
  /// The owners of sessions that stay in the journal and are not restored.
  private var setAside: [SessionHandle: String?] = [:]
  private var generator: any RandomNumberGenerator
  private let place: ShardPlace
  /// The number of sessions of all shards.
  private let census: SessionCensus

  init(generator: any RandomNumberGenerator, place: ShardPlace, census: SessionCensus) {
    self.generator = generator
    self.place = place
    self.census = census
  }

  var count: Int { sessions.count }
  /// The handles of the sessions, in any order.
  var handles: [SessionHandle] { Array(sessions.keys) }

  /// Selects the session that is ended in favor of a new one: a session without a client, of the
  /// owner with the most sessions.
  ///
  /// A session without stores among the 100 newest ones is selected first, because nothing is lost
  /// with it; otherwise the newest session is selected. So an owner that opens many sessions loses
  /// its recent ones and not those that have waited longer. Clients without an identity count as
  /// one owner.
  ///
  /// - Parameter owner: The identity that opens a session. Its own sessions are selected if no
  ///   owner has more.
  /// - Returns: Nil if all sessions of the selected owner have a client.
  func idle(for owner: String?) -> Session? {
    let openerName = ByteString(owner)
    let unowned = count - counts.values.reduce(0, +)
    var most = (owner: openerName, count: openerName.map { counts[$0, default: 0] } ?? unowned)
    if unowned > most.count { most = (nil, unowned) }
    for (owner, count) in counts where count > most.count && !SharedStore.isOwner(owner.string) {
      most = (owner, count)
    }
    var newest: Session?
    var looked = 0
    for (deadline, handle) in deadlines.newestFirst {
      guard isCurrent(deadline, handle), let session = sessions[handle],
        ByteString(session.owner) == most.owner
      else { continue }
      if session.isEmpty { return session }
      newest = newest ?? session
      looked += 1
      if looked == 100 { break }
    }
    return newest
  }

  /// Returns true if `idle` returns a session.
  func hasIdle(for owner: String?) -> Bool { idle(for: owner) != nil }

  /// Creates a handle of this shard that no known session has or had.
  mutating func newHandle() -> SessionHandle {
    while true {
      let handle = SessionHandle(using: &generator)
      // Under test, the generator repeats its numbers in each process.
      if place.owns(handle), !knows(handle) { return handle }
    }
  }

  /// Returns true if a session with a handle is loaded, has ended or is set aside. Otherwise only the
  /// journal knows whether there is one.
  func knows(_ handle: SessionHandle) -> Bool {
    sessions[handle] != nil || ended.contains(handle) || setAside[handle] != nil
  }

  /// The session with a handle; nil if it is not loaded or has ended.
  subscript(handle: SessionHandle) -> Session? { sessions[handle] }

  /// Adds a session.
  ///
  /// - Parameter isCounted: True if the census has admitted it.
  mutating func add(_ session: Session, _ handle: SessionHandle, isCounted: Bool = false) {
    sessions[handle] = session
    if !isCounted { census.add(session.owner) }
    if let owner = session.owner { counts[ByteString(owner), default: 0] += 1 }
  }

  /// Adds the handle of a session that has ended.
  mutating func add(ended handle: SessionHandle, of owner: String?) {
    ended.add(handle, of: owner)
  }

  /// Adds the handle of a session that is not restored.
  mutating func add(setAside handle: SessionHandle, of owner: String?) {
    setAside.updateValue(owner, forKey: handle)
  }

  /// Returns the loaded session with a handle.
  ///
  /// - Parameters:
  ///   - text: The handle, as in the request.
  ///   - identity: The identity of the client; nil if there are no identities.
  /// - Throws: `SessionError.unknownSession`, also if the session belongs to another identity;
  ///   `.expiredSession`; `.setAside`.
  func session(_ text: String, of identity: String?) throws(SessionError) -> Session {
    guard let handle = SessionHandle(text) else { throw .unknownSession }
    let identity = ByteString(identity)
    if let session = sessions[handle], ByteString(session.owner) == identity { return session }
    if ended.contains(handle, of: identity) { throw .expiredSession }
    if let owner = setAside[handle], ByteString(owner) == identity { throw .setAside }
    throw .unknownSession
  }

  /// Removes a session and keeps its handle as that of an ended session.
  mutating func remove(_ session: Session) {
    guard let handle = session.handle, sessions.removeValue(forKey: handle) != nil else { return }
    ended.add(handle, of: session.owner)
    discount(session.owner)
  }

  /// The loaded sessions.
  var loaded: some Sequence<Session> { sessions.values }

  /// Removes a session that sleeps, or that continues on another node.
  mutating func unload(_ handle: SessionHandle) {
    guard let session = sessions.removeValue(forKey: handle) else { return }
    discount(session.owner)
  }

  private mutating func discount(_ owner: String?) {
    census.remove(owner)
    guard let owner = ByteString(owner), let count = counts[owner] else { return }
    counts[owner] = count > 1 ? count - 1 : nil
  }

  /// Updates the deadline of a session after a client has attached or the last one has left.
  mutating func changed(_ session: Session) {
    guard let handle = session.handle, let deadline = session.deadline, sessions[handle] != nil
    else { return }
    deadlines.add(deadline, of: handle)
    // Outdated deadlines, of sessions to which a client has attached since, are removed before
    // there are many.
    guard deadlines.count > 2 * count + 100 else { return }
    let sessions = sessions
    deadlines.removeAll { sessions[$1]?.deadline != $0 }
  }

  private func isCurrent(_ deadline: Duration, _ handle: SessionHandle) -> Bool {
    sessions[handle]?.deadline == deadline
  }

  /// Returns the time at which the next session without a client expires; nil if there is none.
  ///
  /// - Units: the shard's `uptime`.
  mutating func nextDeadline() -> Duration? {
    while let (deadline, handle) = deadlines.first {
      if isCurrent(deadline, handle) { return deadline }
      deadlines.removeFirst()
    }
    return nil
  }

  /// Removes the earliest deadline that has passed, and returns its session; nil if none has
  /// passed.
  mutating func takeExpired(at now: Duration) -> Session? {
    guard let next = nextDeadline(), next <= now, let first = deadlines.first else { return nil }
    deadlines.removeFirst()
    return sessions[first.handle]
  }
}

/// The deadlines of sessions in ascending order, including outdated ones of sessions to which a
/// client has attached since.
private struct Deadlines {
  typealias Entry = (deadline: Duration, handle: SessionHandle)

  private var entries: Deque<Entry> = []

  var count: Int { entries.count }
  var newestFirst: some Sequence<Entry> { entries.reversed() }
  var first: Entry? { entries.first }

  /// Inserts a deadline.
  ///
  /// - Complexity: O(1) for the latest deadline, which is the usual case because all sessions have
  ///   the same time to live.
  mutating func add(_ deadline: Duration, of handle: SessionHandle) {
    var index = entries.count
    while index > 0, deadline < entries[index - 1].deadline { index -= 1 }
    entries.insert((deadline, handle), at: index)
  }

  mutating func removeFirst() { entries.removeFirst() }

  mutating func removeAll(where condition: (Duration, SessionHandle) -> Bool) {
    entries.removeAll { condition($0.deadline, $0.handle) }
  }
}

/// The handles of ended sessions, so that their owners get the error `expiredSession`. The last
/// 10,000 of each owner are kept, so that no owner displaces those of another.
private struct EndedHandles {
  private static let capacity = 10_000

  private struct Order {
    private var handles: [SessionHandle] = []
    private var oldest = 0

    /// Adds a handle.
    ///
    /// - Returns: The oldest handle, which it replaces; nil if there was space.
    mutating func add(_ handle: SessionHandle) -> SessionHandle? {
      guard handles.count == capacity else {
        handles.append(handle)
        return nil
      }
      let forgotten = handles[oldest]
      handles[oldest] = handle
      oldest = (oldest + 1) % capacity
      return forgotten
    }
  }

  private var owners: [SessionHandle: String?] = [:]
  private var orders: [ByteString?: Order] = [:]

  mutating func add(_ handle: SessionHandle, of owner: String?) {
    owners[handle] = .some(owner)
    if let forgotten = orders[ByteString(owner), default: Order()].add(handle) {
      owners[forgotten] = nil
    }
  }

  func contains(_ handle: SessionHandle) -> Bool { owners[handle] != nil }

  func contains(_ handle: SessionHandle, of owner: ByteString?) -> Bool {
    owners[handle].map { ByteString($0) == owner } ?? false
  }
}
