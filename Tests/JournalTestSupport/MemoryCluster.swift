// SPDX-License-Identifier: Apache-2.0

import Dispatch
public import Sessions
internal import StateMachines

/// A journal in memory that several nodes of one process share, with the owners of its sessions.
///
/// It is the reference for the meaning of `SessionOwnership`.
public final class MemoryCluster: Sendable {
  struct Session {
    var node: Int?
    var epoch = 1
  }

  struct Member {
    let name: String
    var address = ""
    var isAlive = true
  }

  struct State {
    var contents = JournalContents()
    var sessions: [SessionHandle: Session] = [:]
    /// The owners of ended sessions.
    var ended: [SessionHandle: String?] = [:]
    var members: [Member] = []
    /// True while nothing succeeds.
    var isDown = false
    /// The revisions that were journaled, with their updates: none may be there twice.
    var revisions: [String: [UInt8]] = [:]
    var conflicts: [String] = []

    func owner(of session: SessionHandle) -> Int? {
      sessions[session]?.node.flatMap { members[$0].isAlive ? $0 : nil }
    }
  }

  /// The error of every operation while the cluster is down.
  public struct Down: Error {}

  let state = Lock(State())
  /// Results are reported on this queue, in order.
  let queue = DispatchQueue(label: "cluster")

  /// Creates an empty journal.
  public init() {}

  /// Adds a node. Its address can be set later.
  public func node(_ name: String) -> MemoryNode {
    let id = state.withLock { state in
      state.members.append(Member(name: name))
      return state.members.count - 1
    }
    return MemoryNode(self, id)
  }

  /// True while nothing succeeds, as if the database were stopped.
  public var isDown: Bool {
    get { state.withLock { $0.isDown } }
    set { state.withLock { $0.isDown = newValue } }
  }

  /// Revisions that stand for two states.
  public var conflicts: [String] { state.withLock { $0.conflicts } }

  /// Lets all operations wait until the result is called, as if the database did not respond.
  public func hold() -> () -> Void {
    queue.suspend()
    return { [queue] in queue.resume() }
  }

  /// The number of sessions that have not ended.
  public var sessionCount: Int { state.withLock { $0.sessions.count } }

  /// Returns the name of the node that owns a session; nil if there is none.
  public func owner(of session: SessionHandle) -> String? {
    state.withLock { state in state.owner(of: session).map { state.members[$0].name } }
  }

  /// Returns how often the owner of a session has changed, plus 1.
  public func epoch(of session: SessionHandle) -> Int? {
    state.withLock { $0.sessions[session]?.epoch }
  }
}

/// One node of a `MemoryCluster`.
public final class MemoryNode: SessionOwnership, PipelinedJournal {
  private let cluster: MemoryCluster
  private let id: Int
  private let own = Lock(Own())

  private struct Own {
    /// The epochs of the sessions in memory.
    var epochs: [SessionHandle: Int] = [:]
    var isLapsed = false
  }

  init(_ cluster: MemoryCluster, _ id: Int) { (self.cluster, self.id) = (cluster, id) }

  /// Sets the address at which other nodes reach this one.
  public func setAddress(_ address: String) {
    cluster.state.withLock { $0.members[id].address = address }
  }

  /// Ends the lease: other nodes may own the sessions from now on.
  public func die() { cluster.state.withLock { $0.members[id].isAlive = false } }

  /// Ends the lease, or renews it, while no other node may own the sessions.
  public func setLapsed(_ isLapsed: Bool) { own.withLock { $0.isLapsed = isLapsed } }

  public var isHeld: Bool {
    cluster.state.withLock { $0.members[id].isAlive } && !own.withLock { $0.isLapsed }
  }

  /// Performs an operation, and reports its result on the queue.
  private func perform<Value: Sendable>(
    _ ended: @escaping @Sendable (Result<Value, any Error>) -> Void,
    _ body: @escaping @Sendable (inout MemoryCluster.State) throws -> Value
  ) {
    cluster.queue.async { [cluster, id] in
      ended(
        Result {
          try cluster.state.withLock { state in
            if state.isDown { throw MemoryCluster.Down() }
            guard state.members[id].isAlive else { throw LeaseLost() }
            return try body(&state)
          }
        })
    }
  }

  // MARK: Ownership

  private func claim(
    _ session: SessionHandle, _ state: inout MemoryCluster.State
  ) -> SessionClaim {
    guard let known = state.sessions[session] else {
      return state.ended[session].map { .ended(owner: $0) } ?? .unknown
    }
    if let owner = state.owner(of: session) {
      let member = state.members[owner]
      return owner == id
        ? .owned
        : .otherNode(
          ClusterNode(name: member.name, address: member.address, leaseLeft: .seconds(1)))
    }
    state.sessions[session] = .init(node: id, epoch: known.epoch + 1)
    return .owned
  }

  public func claim(
    _ session: SessionHandle,
    ended: @escaping @Sendable (Result<SessionClaim, any Error>) -> Void
  ) {
    perform(ended) { [self] state in claim(session, &state) }
  }

  public func beginReleasing(
    _ sessions: [SessionHandle], ended: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    perform(ended) { [id, own] state in
      for session in sessions where state.sessions[session]?.node == id {
        state.sessions[session]?.node = nil
        own.withLock { $0.epochs[session] = nil }
      }
    }
  }

  public func claimContinuing(
    limit: Int, ended: @escaping @Sendable (Result<[SessionHandle], any Error>) -> Void
  ) {
    perform(ended) { [self] state in
      let free = state.contents.sessions.filter {
        $0.continuesAlone && state.owner(of: $0.handle) == nil
      }
      return free.prefix(limit).map(\.handle).filter { claim($0, &state) == .owned }
    }
  }

  public func endExpired(
    at time: Duration, limit: Int,
    ended: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) {
    perform(ended) { state in
      let over = state.contents.sessions.filter { session in
        state.owner(of: session.handle) == nil && session.deadline.map { $0 <= time } ?? false
      }.prefix(limit).map(\.handle)
      for handle in over { state.take(JournalEntry(handle, .ended)) }
      return over.count
    }
  }

  public func nodes(ended: @escaping @Sendable (Result<[ClusterNode], any Error>) -> Void) {
    perform(ended) { state in
      state.members.filter(\.isAlive).map {
        ClusterNode(name: $0.name, address: $0.address, leaseLeft: .seconds(1))
      }
    }
  }

  public func leave(ended: @escaping @Sendable (Result<Void, any Error>) -> Void) {
    die()
    cluster.queue.async { ended(.success(())) }
  }

  // MARK: Journal

  public func begin(
    _ entries: [JournalEntry], ended: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    perform(ended) { [id, own] state in
      for entry in entries where entry.event.opensSession && state.sessions[entry.session] == nil {
        state.sessions[entry.session] = .init(node: id)
        own.withLock { $0.epochs[entry.session] = 1 }
      }
      for session in Set(entries.map(\.session)) {
        let epoch = own.withLock { $0.epochs[session] }
        guard let known = state.sessions[session], known.node == id, known.epoch == epoch else {
          throw SessionOnOtherNode(node: nil)
        }
      }
      for entry in entries { state.take(entry) }
    }
  }

  public func beginLoading(
    _ session: SessionHandle,
    ended: @escaping @Sendable (Result<LoadedSession, any Error>) -> Void
  ) {
    perform(ended) { [self] state in
      switch claim(session, &state) {
      case .otherNode(let node): throw SessionOnOtherNode(node: node)
      case .ended(let owner): return LoadedSession(session: nil, ended: .init(owner: owner))
      case .unknown: return LoadedSession(session: nil)
      case .owned:
        own.withLock { $0.epochs[session] = state.sessions[session]?.epoch }
        return LoadedSession(session: state.contents.sessions.first { $0.handle == session })
      }
    }
  }

  public func forget(_ sessions: [SessionHandle]) {
    own.withLock { own in for session in sessions { own.epochs[session] = nil } }
  }

  public func commit(_ entries: [JournalEntry]) throws {
    // because the semaphore orders the accesses.
    nonisolated(unsafe) var result: Result<Void, any Error>?
    let semaphore = DispatchSemaphore(value: 0)
    begin(entries) {
      result = $0
      semaphore.signal()
    }
    semaphore.wait()
    try result?.get()
  }

  public func load() throws -> JournalContents { cluster.state.withLock { $0.contents } }
  public func start() throws -> JournalStart { JournalStart() }
  public func load(_ session: SessionHandle) throws -> LoadedSession {
    cluster.state.withLock { $0.contents.loaded(session) }
  }
  public func continuing(after position: Int64?, limit: Int) throws -> ContinuingSessions {
    cluster.state.withLock { $0.contents.continuing(after: position, limit: limit) }
  }
  public func endExpired(at time: Duration, limit: Int) throws -> Int { 0 }
}

extension MemoryCluster.State {
  mutating func take(_ entry: JournalEntry) {
    if case .store(let name, .step(_, let revision, let frame?)) = entry.event {
      let key = "\(entry.session) \(name) \(revision)"
      if let known = revisions[key], known != frame { conflicts.append(key) }
      revisions[key] = frame
    }
    if entry.event == .ended,
      let session = contents.sessions.first(where: { $0.handle == entry.session })
    {
      sessions[entry.session] = nil
      ended[entry.session] = .some(session.owner)
    }
    contents.take(entry)
  }
}

extension JournalEntry.Event {
  fileprivate var opensSession: Bool { if case .opened = self { true } else { false } }
}
