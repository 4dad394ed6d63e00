// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import TestSupport
import Testing

@testable import StatewireClient

@Suite("Swift client: states are not repeated", .timeLimit(.minutes(15)))
struct EqualStatesTests {
  @Test("an iteration does not get an equal state again")
  func states() async throws {
    let server = try Listening.server()
    try await withClient(server.address(), .soon) { client in
      let list = try await client.open(.todo, name: "list", config: memory)
      try await list.send(.stateRequested)
      let titles = try await list.titles
      let seen = Record<[String]>()
      let following = Task { for try await state in list.states { seen.add(state.titles) } }
      try await seen.reaches(1)
      // A lost connection reports the state again.
      await client.cut()
      try await client.status { await client.reconnects == 1 }
      try await list.send(.todoRemoved(id: "none"), settle: true) { $0 }
      for _ in 0..<3 { await client.reportAgain() }
      try await list.send(.todoAdded(title: TodoTitle("Milk")))
      try await seen.reaches(2)
      #expect(seen.all == [titles, titles + ["Milk"]])
      following.cancel()
    }
  }

  @Test("an optimistic update that proves right is one state")
  func optimistic() async throws {
    let server = try Listening.server(["--test"])
    try await withClient(server.address(), .soon) { client in
      let list = try await client.open(.todo)
      try await list.send(.stateRequested, settle: true)
      let id = try TodoID("own")
      try await list.send(.todoAdded(title: TodoTitle("Milk"), id: id), settle: true) {
        guard case .content(let todos) = $0 else { return $0 }
        return .content(todos: todos + [Todo(id: "own", title: "Milk")])
      }
      var seen: [[String]] = []
      for try await state in list.states {
        seen.append(state.titles)
        if state.titles.isEmpty { break }
        // The replica reports its state three times.
        for _ in 0..<3 { await client.reportAgain() }
        try await list.send(.todoRemoved(id: "own"), settle: true) { _ in .content(todos: []) }
      }
      #expect(seen == [["Milk"], []])
    }
  }

  @Test("a store is subscribed to while a body of withStore runs")
  func withStore() async throws {
    let server = try Listening.server()
    try await withClient(server.address(), .soon) { client in
      try await client.withStore(.todo, name: "list", config: memory) { first in
        try await client.withStore(.todo, name: "list", config: memory) { second in
          try await second.send(.stateRequested)
        }
        // The subscription is shared, and still in use.
        #expect(try await first.titles.count == 3)
      }
      #expect(await client.subscriptions == 0)
      let kept = try await client.open(.todo, name: "list", config: memory)
      try await client.withStore(.todo, name: "list", config: memory) { _ in }
      #expect(try await kept.titles.count == 3)
    }
  }
}

extension Client {
  /// Reports the states of all stores without a change.
  fileprivate func reportAgain() {
    for record in records.values { record.held(nil) }
  }
}
