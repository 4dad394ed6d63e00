// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireProtocol
internal import Synchronization

/// How many todos there may be in lists in memory, which frontends open with as many as they like.
///
/// A list in the database costs the disk of whoever runs the server; one in memory is the server's own.
public struct TodoLimits: Sendable {
  /// Of all lists in memory of one session.
  public var todosPerSession = 200_000
  /// Of all lists in memory that a server has.
  public var todos = 5_000_000

  public init() {}
}

/// Where the todos of lists in memory are counted: those of a server, or those of a session, which count
/// among those of the server.
public final class TodoRoom: Sendable {
  private let outer: TodoRoom?
  private let limits: TodoLimits
  private let maximum: Int
  private let count = Atomic(0)

  /// A server's room.
  public init(_ limits: TodoLimits) {
    self.limits = limits
    maximum = limits.todos
    outer = nil
  }

  private init(in server: TodoRoom) {
    limits = server.limits
    maximum = limits.todosPerSession
    outer = server
  }

  /// The room of a session in that of a server.
  @Sendable
  public func session() -> TodoRoom { TodoRoom(in: self) }

  /// Why there is no room for so many more; nil if there is.
  public func refusal(adding count: Int) -> InputRefusal? {
    guard self.count.load(ordering: .relaxed) + count <= maximum else { return full }
    return outer?.refusal(adding: count)
  }

  private var full: InputRefusal {
    outer == nil
      ? InputRefusal(.todos, "lists in memory have at most \(maximum) todos")
      : InputRefusal(
        .todosPerSession, "the lists in memory of a session have at most \(maximum) todos")
  }

  /// So many have come, or gone.
  func add(_ difference: Int) {
    count.wrappingAdd(difference, ordering: .relaxed)
    outer?.add(difference)
  }
}
