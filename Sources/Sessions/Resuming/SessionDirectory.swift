// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import StateMachines

/// The sessions of a shard that have a handle, and the handles of those that are over.
struct SessionDirectory {
  private var sessions: [SessionHandle: Session] = [:]
  /// Those that are not loaded.
  private var dormant: [SessionHandle: DormantSession] = [:]
  /// How many of both each identity has opened.
  private var counts: [ByteString: Int] = [:]
  private var deadlines = Deadlines()
  private var ended = EndedHandles()
  /// The owners of sessions that are in the journal and not restored.
  private var setAside: [SessionHandle: String?] = [:]
  private var generator: any RandomNumberGenerator

  init(generator: any RandomNumberGenerator) { self.generator = generator }

  /// A session, loaded or not.
  enum Entry {
    case loaded(Session)
    case dormant(SessionHandle)
  }

  var count: Int { sessions.count + dormant.count }

  /// The session that makes room for another one: one without a frontend, of the owner that has most.
  ///
  /// One without stores if there is one among the newest, because nothing is lost with it; otherwise the
  /// newest: who opens many at a time loses its own, and not those that have waited for longer. Clients
  /// without an identity are one owner.
  ///
  /// - Parameter owner: The identity that opens a session; its own sessions go if it has as many as any.
  /// - Returns: Nil if all sessions of that owner have a frontend.
  func idle(for owner: String?) -> Entry? {
    let opener = owner.map { ByteString($0) }
    let unowned = count - counts.values.reduce(0, +)
    var most = (owner: opener, count: opener.map { counts[$0, default: 0] } ?? unowned)
    if unowned > most.count { most = (nil, unowned) }
    for (owner, count) in counts where count > most.count { most = (owner, count) }
    var newest: Entry?
    var looked = 0
    for (deadline, handle) in deadlines.newestFirst {
      guard isCurrent(deadline, handle), let (entry, owner, isEmpty) = entry(handle),
        owner.map({ ByteString($0) }) == most.owner
      else { continue }
      if isEmpty { return entry }
      newest = newest ?? entry
      looked += 1
      if looked == 100 { break }
    }
    return newest
  }

  private func entry(_ handle: SessionHandle) -> (Entry, owner: String?, isEmpty: Bool)? {
    if let session = sessions[handle] {
      return (.loaded(session), session.owner, session.isEmpty)
    }
    guard let session = dormant[handle] else { return nil }
    return (.dormant(handle), session.owner, session.isEmpty)
  }

  /// How many sessions an identity has opened that are not over.
  func count(of owner: String) -> Int { counts[ByteString(owner), default: 0] }

  /// A handle that no session has.
  mutating func newHandle() -> SessionHandle {
    while true {
      let handle = SessionHandle(using: &generator)
      // Numbers of a server under test begin anew with each process.
      if sessions[handle] == nil, dormant[handle] == nil, !ended.contains(handle),
        setAside[handle] == nil
      {
        return handle
      }
    }
  }

  /// The session of a handle, if it is loaded and not over.
  subscript(handle: SessionHandle) -> Session? { sessions[handle] }

  /// Adds a session.
  mutating func add(_ session: Session, _ handle: SessionHandle) {
    sessions[handle] = session
    if let owner = session.owner { counts[ByteString(owner), default: 0] += 1 }
  }

  /// Adds sessions that are not loaded.
  mutating func add(dormant added: [(handle: SessionHandle, session: DormantSession)]) {
    dormant.reserveCapacity(dormant.count + added.count)
    for (handle, session) in added {
      dormant[handle] = session
      if let owner = session.owner { counts[ByteString(owner), default: 0] += 1 }
    }
    for (handle, session) in added.sorted(by: { $0.session.deadline < $1.session.deadline }) {
      deadlines.add(session.deadline, of: handle)
    }
  }

  /// A session that is not loaded, in the hands of the one it belongs to.
  ///
  /// - Parameters:
  ///   - text: The handle, as it came.
  ///   - identity: Whose hands; nil where there are no identities.
  func dormant(_ text: String, of identity: String?) -> SessionHandle? {
    guard let handle = SessionHandle(text), let session = dormant[handle],
      session.owner == identity
    else { return nil }
    return handle
  }

  /// The session of a handle, if it is not loaded and not over.
  func dormant(_ handle: SessionHandle) -> DormantSession? { dormant[handle] }

  /// Postpones the end of a session that is not loaded, and whose time is not over now.
  mutating func postpone(
    dormant handle: SessionHandle, from now: Duration, to deadline: Duration
  ) {
    guard let session = dormant[handle], now < session.deadline, session.deadline < deadline
    else { return }
    dormant[handle]?.deadline = deadline
    deadlines.add(deadline, of: handle)
  }

  /// Takes out a session that is not loaded.
  mutating func takeDormant(_ handle: SessionHandle) -> DormantSession? {
    guard let session = dormant.removeValue(forKey: handle) else { return nil }
    discount(session.owner)
    return session
  }

  /// Adds the handle of a session that is over.
  mutating func add(ended handle: SessionHandle, of owner: String?) {
    ended.add(handle, of: owner)
  }

  /// Adds the handle of a session that is not restored.
  mutating func add(setAside handle: SessionHandle, of owner: String?) {
    setAside.updateValue(owner, forKey: handle)
  }

  /// The session of a handle, in the hands of the one it belongs to.
  ///
  /// - Parameters:
  ///   - text: The handle, as it came.
  ///   - identity: Whose hands; nil where there are no identities.
  /// - Throws: `SessionError.unknownSession`, `.expiredSession` or `.setAside`; `.unreadable` for one that is not loaded.
  func session(_ text: String, of identity: String?) throws(SessionError) -> Session {
    guard let handle = SessionHandle(text) else { throw .unknownSession }
    if let session = sessions[handle], session.owner == identity { return session }
    if let session = dormant[handle], session.owner == identity { throw .unreadable }
    if ended.contains(handle, of: identity) { throw .expiredSession }
    if let owner = setAside[handle], owner == identity { throw .setAside }
    throw .unknownSession
  }

  /// Forgets a session but for that it has been.
  mutating func remove(_ session: Session) {
    guard let handle = session.handle, sessions.removeValue(forKey: handle) != nil else { return }
    ended.add(handle, of: session.owner)
    discount(session.owner)
  }

  private mutating func discount(_ owner: String?) {
    guard let owner = owner.map({ ByteString($0) }), let count = counts[owner] else { return }
    counts[owner] = count > 1 ? count - 1 : nil
  }

  /// A frontend has come to a session, or the last one has left it.
  mutating func changed(_ session: Session) {
    guard let handle = session.handle, let deadline = session.deadline, sessions[handle] != nil
    else { return }
    deadlines.add(deadline, of: handle)
    // Those of sessions that somebody has come back to are forgotten before they are many.
    guard deadlines.count > 2 * count + 100 else { return }
    let (sessions, dormant) = (sessions, dormant)
    deadlines.removeAll { (sessions[$1]?.deadline ?? dormant[$1]?.deadline) != $0 }
  }

  private func isCurrent(_ deadline: Duration, _ handle: SessionHandle) -> Bool {
    (sessions[handle]?.deadline ?? dormant[handle]?.deadline) == deadline
  }

  /// When the first session expires that nobody is attached to; nil if there is none.
  ///
  /// - Units: the shard's `uptime`.
  mutating func nextDeadline() -> Duration? {
    while let (deadline, handle) = deadlines.first {
      if isCurrent(deadline, handle) { return deadline }
      deadlines.removeFirst()
    }
    return nil
  }

  /// Takes out the session whose time has been over for longest; nil if none's is.
  mutating func takeExpired(at now: Duration) -> Entry? {
    guard let next = nextDeadline(), next <= now, let first = deadlines.first else { return nil }
    deadlines.removeFirst()
    return entry(first.handle)?.0
  }
}

/// When sessions expire, the first one first; also those that somebody has come back to since.
private struct Deadlines {
  typealias Entry = (deadline: Duration, handle: SessionHandle)

  private var entries: Deque<Entry> = []

  var count: Int { entries.count }
  var newestFirst: some Sequence<Entry> { entries.reversed() }
  var first: Entry? { entries.first }

  /// All live equally long, so that almost every one comes last.
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

/// The handles of the last sessions that are over, so that their owners learn that they were: as many of
/// each owner, so that none forgets those of another.
private struct EndedHandles {
  private static let capacity = 10_000

  private struct Order {
    private var handles: [SessionHandle] = []
    private var oldest = 0

    /// Adds a handle.
    /// - Returns: The oldest one, which it takes the place of.
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
    if let forgotten = orders[owner.map { ByteString($0) }, default: Order()].add(handle) {
      owners[forgotten] = nil
    }
  }

  func contains(_ handle: SessionHandle) -> Bool { owners[handle] != nil }

  func contains(_ handle: SessionHandle, of owner: String?) -> Bool {
    owners[handle].map { $0 == owner } ?? false
  }
}
