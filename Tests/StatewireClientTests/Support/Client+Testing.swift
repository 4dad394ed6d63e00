// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol

@testable import StatewireClient

/// A list in memory with three todos.
let memory: JSONValue = ["memory": ["count": 3]]

/// Returns the error response that some work throws, if any.
func refused(_ work: () async throws -> Void) async -> RPCError? {
  do {
    try await work()
    return nil
  } catch {
    return error as? RPCError
  }
}

/// Returns the code of the client error that some work throws, if any.
func failure(_ work: () async throws -> Void) async -> StatewireError.Code? {
  do {
    try await work()
    return nil
  } catch {
    return (error as? StatewireError)?.code
  }
}

extension Client {
  /// Waits for a state of the connection.
  func status(_ wanted: Status) async throws {
    try await status { await self.status == wanted }
  }

  /// Waits for a condition that changes together with the state of the connection.
  func status(_ isSo: @escaping @Sendable () async -> Bool) async throws {
    for try await _ in statuses where await isSo() { return }
  }

  /// The number of stores that the client subscribes to.
  var subscriptions: Int { records.count }

  /// Ends the connection as if it were lost.
  func cut() { interrupt?.finish() }

  /// Attaches over a connection in memory, and changes the phase before the response.
  ///
  /// - Returns: The phases that the client has sent.
  func attach(
    in before: FrontendLifecycle.Phase, changingTo after: FrontendLifecycle.Phase
  ) async throws -> [String] {
    let (writes, wrote) = AsyncStream<Void>.makeStream()
    let connection = Connection(listener: Connection.Listener(wrote: { wrote.yield() }))
    self.connection = connection
    try await setPhase(before)
    async let entered: Void = enter(AsyncStream<Duration>.makeStream().continuation)
    var phases: [String] = []
    func takeOutgoing() throws -> [JSONValue] {
      let messages = try connection.takeOutgoing().split(separator: UInt8(ascii: "\n"))
        .map { try JSONValue(parsing: Array($0)) }
      phases += messages.compactMap { $0["params"]?["phase"]?.string }
      return messages
    }
    for await _ in writes {
      guard let request = try takeOutgoing().first, let id = request["id"] else { continue }
      let isAttach = request["method"] == "session/attach"
      if isAttach { try await setPhase(after) }
      let result: JSONValue = isAttach ? ["stores": [:], "sequence": 0] : [:]
      try connection.received((["jsonrpc": "2.0", "id": id, "result": result] as JSONValue).bytes)
      if isAttach { break }
    }
    try await entered
    _ = try takeOutgoing()
    return phases
  }

  /// Replaces the replicas with a wrong list of three todos, to which later patches still apply.
  func spoil() {
    for record in records.values {
      guard let replica = record.replica else { continue }
      let todo: JSONValue = ["id": "1", "title": "spoilt", "completed": false]
      replica.reset(
        revision: replica.revision, state: ["type": "content", "todos": [todo, todo, todo]])
      record.held(nil)
    }
  }
}

// MARK: - Lists

extension RemoteStore where State == TodoViewState<[Todo]> {
  var titles: [String] {
    get async throws { try await state.titles }
  }
}

extension TodoViewState<[Todo]> {
  var titles: [String] { if case .content(let todos) = self { todos.map(\.title) } else { [] } }

  /// The state with one more todo at the end: an optimistic update.
  func adding(_ title: String) -> Self {
    guard case .content(let todos) = self else { return self }
    return .content(todos: todos + [Todo(id: "drawn", title: title)])
  }
}
