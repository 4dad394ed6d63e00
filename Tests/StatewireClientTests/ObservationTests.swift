// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import Observation
import StatewireObservation
import TestSupport
import Testing

@testable import StatewireClient

@MainActor
@Suite("Swift client: observable stores", .timeLimit(.minutes(15)))
struct ObservationTests {
  /// Waits until a condition on observable properties holds; it is read again after each change.
  private func until(_ condition: @MainActor () -> Bool) async {
    while true {
      let (changes, change) = AsyncStream<Void>.makeStream()
      let isMet = withObservationTracking(condition) { change.finish() }
      if isMet { return }
      for await _ in changes {}
    }
  }

  /// Runs an object while `body` runs.
  private func running<Input, State>(
    _ store: ObservedStore<Input, State>, _ body: () async throws -> Void
  ) async throws {
    let run = Task { await store.run() }
    try await body()
    run.cancel()
    await run.value
  }

  @Test("observers see states, optimistic updates and the connection")
  func observed() async throws {
    let server = try Listening.server()
    try await withClient(server.address(), .soon) { client in
      let list = ObservedStore(client, .todo, name: "list", config: memory)
      #expect(list.state == nil)
      try await running(list) {
        await until { list.state != nil && list.isConnected }
        try await list.send(.stateRequested)
        await until { list.state?.titles.count == 3 }
        async let sent = list.send(.todoAdded(title: TodoTitle("Milk"))) { $0.adding("Milk") }
        await until { list.state?.titles.last == "Milk" }
        _ = try await sent
        await until {
          if case .content(let todos) = list.state { todos.last?.id != "drawn" } else { false }
        }

        // The last state stays while the client reconnects.
        let before = list.state
        await client.cut()
        await until { !list.isConnected }
        #expect(list.state == before)
        await until { list.isConnected }
        #expect(list.state == before)
      }
    }
  }

  @Test("objects of one store share its subscription, which ends with the last")
  func shared() async throws {
    let server = try Listening.server()
    try await withClient(server.address(), .soon) { client in
      let first = ObservedStore(client, .todo, name: "list", config: memory)
      let second = ObservedStore(client, .todo, name: "list", config: memory)
      try await running(first) {
        try await running(second) {
          try await second.send(.stateRequested)
          await until { first.state?.titles.count == 3 && second.state?.titles.count == 3 }
        }
        try await first.send(.todoAdded(title: TodoTitle("Milk")))
        await until { first.state?.titles.count == 4 }
        #expect(second.state?.titles.count == 3, "it no longer runs")
      }
      #expect(await client.subscriptions == 0)
      // It can run again.
      try await running(second) { await until { second.state?.titles.count == 4 } }
    }
  }

  @Test("errors are kept, not thrown, and another run tries again")
  func errors() async throws {
    let server = try Listening.server()
    try await withClient(server.address(), .soon) { client in
      let wrong = ObservedStore(client, .todo, name: "list", config: ["memory": ["count": -1]])
      await wrong.run()
      #expect((wrong.error as? RPCError)?.code == .invalidParams)
      await #expect(throws: RPCError.self) { try await wrong.send(.stateRequested) }

      let list = ObservedStore(client, .todo, name: "list", config: memory)
      try await running(list) {
        await until { list.state != nil }
        _ = try await client.request("store/close", ["store": "list"])
        await until { list.error != nil }
        #expect((list.error as? StatewireError)?.code == .storeClosed)
        #expect(list.state == nil)
      }
      try await running(list) {
        await until { list.state != nil }
        #expect(list.error == nil)
        await client.close()
        await until { list.error != nil }
        #expect((list.error as? StatewireError)?.code == .clientClosed)
        #expect(list.status == .closed)
      }
    }
  }
}
