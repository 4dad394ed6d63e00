// SPDX-License-Identifier: Apache-2.0

/// Decides which node serves a session, if several nodes share a journal.
///
/// A node has a lease, which it renews. A session is owned by one node, in an epoch that grows with
/// each change of its owner. When the lease of a node is over, others may own its sessions; the
/// journal refuses all further transactions of the node.
///
/// Results are reported on any thread. Errors mean that nothing is known, because the database
/// cannot be reached.
public protocol SessionOwnership: AnyObject, Sendable {
  /// True while no other node may own the sessions of this one, by the monotonic clock of this
  /// machine. While it is false, the node must send nothing to clients; it may become true again
  /// (`OwnershipChange`).
  ///
  /// - Complexity: O(1): a lock and a clock.
  var isHeld: Bool { get }

  /// Claims a session that no living node owns. Loading it (`PipelinedJournal.beginLoading`) does the
  /// same and reads it; this tells where to relay a client.
  func claim(
    _ session: SessionHandle,
    ended: @escaping @Sendable (Result<SessionClaim, any Error>) -> Void)

  /// Claims sessions without an owner that have work to continue although no client attaches.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of sessions.
  ///   - ended: Called with the claimed sessions, which are to be loaded.
  func claimContinuing(
    limit: Int, ended: @escaping @Sendable (Result<[SessionHandle], any Error>) -> Void)

  /// Ends sessions without an owner whose time is over.
  ///
  /// - Parameters:
  ///   - time: The present time since 1970.
  ///   - limit: The maximum number of sessions.
  ///   - ended: Called with the number of ended sessions.
  func endExpired(
    at time: Duration, limit: Int,
    ended: @escaping @Sendable (Result<Int, any Error>) -> Void)

  /// Reads the nodes that have a lease.
  func nodes(ended: @escaping @Sendable (Result<[ClusterNode], any Error>) -> Void)

  /// Gives all sessions and the lease up. Afterwards `isHeld` is false.
  func leave(ended: @escaping @Sendable (Result<Void, any Error>) -> Void)
}

/// The result of the claim of a session.
public enum SessionClaim: Sendable, Equatable {
  /// This node owns the session.
  case owned
  /// Another node owns it.
  case otherNode(ClusterNode)
  /// The session has ended.
  /// - Parameter owner: The identity that had opened it; nil if there were no identities.
  case ended(owner: String?)
  /// There was no such session, or it has ended a long time ago.
  case unknown
}

/// A node that shares the journal.
public struct ClusterNode: Sendable, Equatable {
  /// The name, which is unique among the nodes with a lease.
  public let name: String
  /// The address at which other nodes reach it, as `HOST:PORT`.
  public let address: String
  /// The time until its lease is over, by the clock of the database.
  public let leaseLeft: Duration

  /// Creates a description.
  public init(name: String, address: String, leaseLeft: Duration) {
    self.name = name
    self.address = address
    self.leaseLeft = leaseLeft
  }
}

/// A change of the lease of this node.
public enum OwnershipChange: Sendable, Equatable {
  /// The node has a lease, or has it again: its sessions are as they were.
  case held
  /// The lease is over and may be renewed later. Nothing may be sent to clients until then.
  case lapsed
  /// Another node owns the sessions of this node. All sessions must be removed from memory, their
  /// clients disconnected, and nothing of them sent or journaled. The node joins again by itself;
  /// `held` follows.
  case lost
  /// An operator asks this node to give its sessions up and to end.
  case drains
}

/// The error of an operation on a session that another node owns.
public struct SessionOnOtherNode: Error, CustomStringConvertible {
  /// The other node; nil if it is not known.
  public let node: ClusterNode?

  /// Creates the error.
  public init(node: ClusterNode?) { self.node = node }

  /// A sentence for the log.
  public var description: String {
    node.map { "node \($0.name) owns the session" } ?? "another node owns the session"
  }
}

/// The error of a session whose entries cannot be read: they are damaged, or a newer version of the
/// program has written them.
public struct UnreadableSession: Error, CustomStringConvertible {
  /// Creates the error.
  public init() {}

  /// A sentence for the log.
  public var description: String {
    "the rows of a session in the database cannot be read; a newer version of this program may have written them"
  }
}

/// The error of an operation of a node whose sessions others may own.
public struct LeaseLost: Error, CustomStringConvertible {
  /// Creates the error.
  public init() {}

  /// A sentence for the log.
  public var description: String { "the lease of this node was taken over by another node" }
}
