// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The sessions of a shard that have a handle, and the handles of those that are over.
struct SessionDirectory {
  private var sessions: [SessionHandle: Session] = [:]
  /// Those that no frontend is attached to.
  private var lonely: [SessionHandle: Session] = [:]
  private var ended = EndedHandles()
  private var generator: any RandomNumberGenerator

  init(generator: any RandomNumberGenerator) { self.generator = generator }

  var count: Int { sessions.count }

  /// A handle that no session has.
  mutating func newHandle() -> SessionHandle {
    while true {
      let handle = SessionHandle(using: &generator)
      // Numbers of a server under test begin anew with each process.
      if sessions[handle] == nil, !ended.contains(handle) { return handle }
    }
  }

  /// Adds a session.
  mutating func add(_ session: Session, _ handle: SessionHandle) { sessions[handle] = session }

  /// Adds the handle of a session that is over.
  mutating func add(ended handle: SessionHandle, of owner: String?) {
    ended.add(handle, of: owner)
  }

  /// The session of a handle, in the hands of the one it belongs to.
  ///
  /// - Parameters:
  ///   - text: The handle, as it came.
  ///   - identity: Whose hands; nil where there are no identities.
  /// - Throws: `SessionError.unknownSession` or `.expiredSession`.
  func session(_ text: String, of identity: String?) throws(SessionError) -> Session {
    guard let handle = SessionHandle(text) else { throw .unknownSession }
    if let session = sessions[handle], session.owner == identity { return session }
    if ended.contains(handle, of: identity) { throw .expiredSession }
    throw .unknownSession
  }

  /// Forgets a session but for that it has been.
  mutating func remove(_ session: Session) {
    guard let handle = session.handle, sessions.removeValue(forKey: handle) != nil else { return }
    lonely[handle] = nil
    ended.add(handle, of: session.owner)
  }

  /// A frontend has come to a session, or the last one has left it.
  mutating func changed(_ session: Session) {
    guard let handle = session.handle, sessions[handle] != nil else { return }
    lonely[handle] = session.deadline == nil ? nil : session
  }

  /// When the first session expires that nobody is attached to; nil if there is none.
  ///
  /// - Units: the shard's `uptime`.
  var nextDeadline: Duration? { lonely.values.lazy.compactMap(\.deadline).min() }

  /// The sessions whose time is over, in the order in which it was.
  func expired(at now: Duration) -> [Session] {
    if lonely.isEmpty { return [] }
    return lonely.values.compactMap { session in session.deadline.map { (session, $0) } }
      .filter { $0.1 <= now }.sorted { $0.1 < $1.1 }.map(\.0)
  }
}

/// The handles of the last sessions that are over, so that their owners learn that they were.
private struct EndedHandles {
  private static let capacity = 10_000

  private var owners: [SessionHandle: String?] = [:]
  private var order: [SessionHandle] = []
  private var oldest = 0

  mutating func add(_ handle: SessionHandle, of owner: String?) {
    owners[handle] = .some(owner)
    if order.count < Self.capacity {
      order.append(handle)
    } else {
      owners[order[oldest]] = nil
      order[oldest] = handle
      oldest = (oldest + 1) % Self.capacity
    }
  }

  func contains(_ handle: SessionHandle) -> Bool { owners[handle] != nil }

  func contains(_ handle: SessionHandle, of owner: String?) -> Bool {
    owners[handle].map { $0 == owner } ?? false
  }
}
