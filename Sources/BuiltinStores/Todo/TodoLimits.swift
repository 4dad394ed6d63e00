// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
public import StateMachines

/// How large todo lists may be, in todos and in bytes.
public struct TodoLimits: Sendable {
  /// Of one list, in memory or in a database.
  public var list = TodoSize(todos: 200_000, bytes: 10 << 20)
  /// Of all lists of a database.
  public var database = TodoSize(todos: 1_000_000, bytes: 64 << 20)
  /// Of all lists in memory of one session.
  public var session = TodoSize(todos: 200_000, bytes: 20 << 20)
  /// Of all lists in memory of one identity; nil: half of `memory`.
  public var todosPerIdentity: Int?
  public var bytesPerIdentity: Int?
  /// Of all lists in memory that a server has.
  public var memory = TodoSize(todos: 2_000_000, bytes: 128 << 20)

  public init() {}

  /// What a limit is for.
  public enum Scope: Sendable { case list, database, session, identity, memory }

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

  /// Why something may not be as large as it would be; nil if it may. What does not grow is not refused.
  ///
  /// - Parameters:
  ///   - size: The size that it would have.
  ///   - added: How much of it is new.
  ///   - scope: What it is.
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
    case .identity: "the lists in memory of one name have"
    case .memory: "lists in memory have"
    }
  }
}
