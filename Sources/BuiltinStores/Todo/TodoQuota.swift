// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import Synchronization

/// A quota for todo lists in memory: counts the lists of a session, which also count for its
/// identity, if it has one, and for the server.
public final class TodoQuota: Sendable {
  private let server: Server
  private let scope: TodoLimits.Scope
  private var maximum: TodoSize { server.limits[scope] }
  private let outer: TodoQuota?
  /// The size that a list reserves in advance; small compared with the quota.
  let ahead: TodoSize
  private let todos = Atomic(0)
  private let bytes = Atomic(0)

  /// The values that all quotas of a server share, so that one of thousands of sessions is small.
  private final class Server: Sendable {
    let limits: TodoLimits
    /// The quotas of identities: at most one for each token name.
    let identities = Lock<[String: Identity]>([:])

    init(_ limits: TodoLimits) { self.limits = limits }
  }

  private struct Identity {
    weak var quota: TodoQuota?
  }

  var limits: TodoLimits { server.limits }

  /// Creates the quota of a server.
  public convenience init(_ limits: TodoLimits) { self.init(Server(limits), .memory, in: nil) }

  private init(_ server: Server, _ scope: TodoLimits.Scope, in outer: TodoQuota?) {
    self.server = server
    self.scope = scope
    self.outer = outer
    let (most, maximum) = (outer?.ahead ?? TodoSize(todos: 64, bytes: 4096), server.limits[scope])
    ahead = TodoSize(
      todos: min(most.todos, maximum.todos / Self.partAhead),
      bytes: min(most.bytes, maximum.bytes / Self.partAhead))
  }

  private static var partAhead: Int { 4096 }

  /// Returns the quota of a session, inside that of the server.
  ///
  /// - Parameter identity: The identity of the session's owner; nil if there are no identities.
  @Sendable
  public func session(of identity: String?) -> TodoQuota {
    TodoQuota(server, .session, in: identity.map(quota(of:)) ?? self)
  }

  private func quota(of identity: String) -> TodoQuota {
    server.identities.withLock { identities in
      if let quota = identities[identity]?.quota { return quota }
      let quota = TodoQuota(server, .identity, in: self)
      identities[identity] = Identity(quota: quota)
      return quota
    }
  }

  /// Returns the reason to refuse a list with this initial size; nil if there is room.
  public func refusal(opening size: TodoSize) -> InputRefusal? {
    limits.refusal(of: size, adding: size, in: .list) ?? refusal(adding: size)
  }

  /// Returns the reason to refuse a list that grows; nil if there is room.
  func refusal(adding added: TodoSize) -> InputRefusal? {
    let size = TodoSize(
      todos: todos.load(ordering: .relaxed) + added.todos,
      bytes: bytes.load(ordering: .relaxed) + added.bytes)
    if !size.fits(in: maximum),
      let refusal = limits.refusal(of: size, adding: added, in: scope)
    {
      return refusal
    }
    return outer?.refusal(adding: added)
  }

  /// Returns true if an eighth of this quota and of the outer ones stays free after `added`. The
  /// last eighth is not used for reservations in advance.
  func isEighthFree(adding added: TodoSize) -> Bool {
    let size = TodoSize(
      todos: todos.load(ordering: .relaxed) + added.todos,
      bytes: bytes.load(ordering: .relaxed) + added.bytes)
    let most = TodoSize(
      todos: maximum.todos - maximum.todos / 8, bytes: maximum.bytes - maximum.bytes / 8)
    return size.fits(in: most) && outer?.isEighthFree(adding: added) ?? true
  }

  /// Counts the growth of a list, which may be negative.
  func add(_ difference: TodoSize) {
    if difference.todos != 0 { todos.wrappingAdd(difference.todos, ordering: .relaxed) }
    if difference.bytes != 0 { bytes.wrappingAdd(difference.bytes, ordering: .relaxed) }
    outer?.add(difference)
  }
}
