// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import Synchronization

/// Where the lists in memory are counted: those of a session, which count among those of its identity, if there is one,
/// and those of the server.
public final class TodoRoom: Sendable {
  let limits: TodoLimits
  private let scope: TodoLimits.Scope
  private let maximum: TodoSize
  private let outer: TodoRoom?
  /// How much a list takes beyond its size, where that is little beside what there is.
  let ahead: TodoSize
  private let todos = Atomic(0)
  private let bytes = Atomic(0)
  /// The rooms of identities, of which there are as many as there are names of tokens; in a server's room.
  private let identities = Lock<[String: Identity]>([:])

  private struct Identity {
    weak var room: TodoRoom?
  }

  /// A server's room.
  public convenience init(_ limits: TodoLimits) { self.init(limits, .memory, in: nil) }

  private init(_ limits: TodoLimits, _ scope: TodoLimits.Scope, in outer: TodoRoom?) {
    self.limits = limits
    self.scope = scope
    maximum = limits[scope]
    self.outer = outer
    let most = outer?.ahead ?? TodoSize(todos: 64, bytes: 4096)
    ahead = TodoSize(
      todos: min(most.todos, maximum.todos / Self.partAhead),
      bytes: min(most.bytes, maximum.bytes / Self.partAhead))
  }

  private static var partAhead: Int { 4096 }

  /// Makes the room of a session in that of a server.
  ///
  /// - Parameter identity: Whom the session belongs to; nil where there are no identities.
  @Sendable
  public func session(of identity: String?) -> TodoRoom {
    TodoRoom(limits, .session, in: identity.map(room(of:)) ?? self)
  }

  private func room(of identity: String) -> TodoRoom {
    identities.withLock { identities in
      if let room = identities[identity]?.room { return room }
      let room = TodoRoom(limits, .identity, in: self)
      identities[identity] = Identity(room: room)
      return room
    }
  }

  /// Why a list may not begin with a size; nil if it may.
  public func refusal(opening size: TodoSize) -> InputRefusal? {
    limits.refusal(of: size, adding: size, in: .list) ?? refusal(adding: size)
  }

  /// Why there is no room for more; nil if there is.
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

  /// True if an eighth is free here and further out, which is not for what lists take ahead.
  func isEighthFree(adding added: TodoSize) -> Bool {
    let size = TodoSize(
      todos: todos.load(ordering: .relaxed) + added.todos,
      bytes: bytes.load(ordering: .relaxed) + added.bytes)
    let most = TodoSize(
      todos: maximum.todos - maximum.todos / 8, bytes: maximum.bytes - maximum.bytes / 8)
    return size.fits(in: most) && outer?.isEighthFree(adding: added) ?? true
  }

  /// Counts a list that has grown, or shrunk.
  func add(_ difference: TodoSize) {
    if difference.todos != 0 { todos.wrappingAdd(difference.todos, ordering: .relaxed) }
    if difference.bytes != 0 { bytes.wrappingAdd(difference.bytes, ordering: .relaxed) }
    outer?.add(difference)
  }
}
