// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
public import StateMachines

/// The limits of todo lists, in todos and in bytes.
public struct TodoLimits: Sendable {
  /// The limit of one list, in memory or in a database.
  public var list = TodoSize(todos: 200_000, bytes: 10 << 20)
  /// The limit of all lists of a database.
  public var database = TodoSize(todos: 1_000_000, bytes: 64 << 20)
  /// The limit of all lists in memory of one session.
  public var session = TodoSize(todos: 200_000, bytes: 20 << 20)
  /// The limit of all lists in memory of one identity, in todos; nil: half of `memory`.
  public var todosPerIdentity: Int?
  /// The limit of all lists in memory of one identity, in bytes; nil: half of `memory`.
  public var bytesPerIdentity: Int?
  /// The limit of all lists in memory of a server.
  public var memory = TodoSize(todos: 2_000_000, bytes: 128 << 20)

  /// Creates the default limits.
  public init() {}

  /// The scope of a limit.
  public enum Scope: Sendable { case list, database, session, identity, memory }

  /// The limit of a scope.
  public subscript(scope: Scope) -> TodoSize {
    switch scope {
    case .list: list
    case .database: database
    case .session: session
    case .identity:
      TodoSize(
        todos: todosPerIdentity ?? max(1, memory.todos / 2),
        bytes: bytesPerIdentity ?? max(1, memory.bytes / 2))
    case .memory: memory
    }
  }

  /// Returns the reason to refuse a change that makes a scope larger than its limit; nil if the
  /// change is permitted. A change that adds nothing is never refused.
  ///
  /// - Parameters:
  ///   - size: The size after the change.
  ///   - added: The part of `size` that the change adds.
  ///   - scope: The scope.
  public func refusal(of size: TodoSize, adding added: TodoSize, in scope: Scope) -> InputRefusal? {
    let maximum = self[scope]
    if added.todos > 0, size.todos > maximum.todos {
      return InputRefusal(
        .init(scope.limits.todos), "\(scope.name) at most \(maximum.todos) todos")
    }
    if added.bytes > 0, size.bytes > maximum.bytes {
      return InputRefusal(
        .init(scope.limits.bytes),
        "\(scope.name) at most \(maximum.bytes) bytes of titles and ids")
    }
    return nil
  }
}

extension TodoLimits.Scope {
  fileprivate var limits: (todos: LimitName, bytes: LimitName) {
    switch self {
    case .list: (.todosPerList, .todoBytesPerList)
    case .database: (.todosPerDatabase, .todoBytesPerDatabase)
    case .session: (.todosPerSession, .todoBytesPerSession)
    case .identity: (.todosPerIdentity, .todoBytesPerIdentity)
    case .memory: (.todos, .todoBytes)
    }
  }

  fileprivate var name: String {
    switch self {
    case .list: "a list has"
    case .database: "the lists of the database have"
    case .session: "the lists in memory of a session have"
    case .identity: "the lists in memory of one identity have"
    case .memory: "lists in memory have"
    }
  }
}
