// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol

@testable import StatewireClient

/// A list in memory with three todos.
let memory: JSONValue = ["memory": ["count": 3]]

/// What the server refuses some work with, if it does.
func refused(_ work: () async throws -> Void) async -> RPCError? {
  do {
    try await work()
    return nil
  } catch {
    return error as? RPCError
  }
}

/// What some work fails with between client and server, if it does.
func failure(_ work: () async throws -> Void) async -> StatewireError.Code? {
  do {
    try await work()
    return nil
  } catch {
    return (error as? StatewireError)?.code
  }
}

extension Client {
  /// Waits until the connection is so.
  func status(_ wanted: Status) async throws {
    try await status { await self.status == wanted }
  }

  /// Waits for something that comes with a change of the status.
  func status(_ isSo: @escaping @Sendable () async -> Bool) async throws {
    for try await _ in statuses where await isSo() { return }
  }

  /// Ends the connection, as if it were lost.
  func cut() { interrupt?.finish() }

  /// What a wrong patch would have left behind of a list of three, that later ones still fit.
  func spoil() {
    for record in records.values {
      guard let view = record.view else { continue }
      let todo: JSONValue = ["id": "1", "title": "spoilt", "completed": false]
      view.reset(revision: view.revision, state: ["type": "content", "todos": [todo, todo, todo]])
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

  /// With one more todo at the end, as a frontend would draw it.
  func adding(_ title: String) -> Self {
    guard case .content(let todos) = self else { return self }
    return .content(todos: todos + [Todo(id: "drawn", title: title)])
  }
}
