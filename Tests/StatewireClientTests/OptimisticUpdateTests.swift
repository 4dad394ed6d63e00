// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import Testing

@testable import StatewireClient

@Suite("Swift client: optimistic updates and back-pressure", .timeLimit(.minutes(15)))
struct OptimisticUpdateTests {
  @Test("an optimistic update is applied until its input has settled, on top of other changes")
  func untilSettled() async throws {
    let server = try Listening.server(["--test"])
    try await withClient(server.address(), .soon) { client in
      let list = try await client.open(.todo)
      try await list.send(.stateRequested, settle: true)
      _ = try await client.request(
        "test/injectFault",
        [
          "store": "todo", "operation": "addTodo",
          "fault": ["type": "delay", "seconds": 1],
        ])
      let adding = try await list.post(.todoAdded(title: TodoTitle("Milk"))) { $0.adding("Milk") }
      let drawn = try await list.waitUntil { $0.titles == ["Milk"] }
      #expect(drawn == .content(todos: [Todo(id: "drawn", title: "Milk")]))
      #expect(try await list.confirmed.state.titles == [])
      let session = await client.session
      try await withClient(server.address(), .soon.with { $0.session = session }) { other in
        let same = try await other.open(.todo)
        try await same.send(.todoAdded(title: TodoTitle("Bread")), settle: true)
      }
      _ = try await list.waitUntil { $0.titles == ["Bread", "Milk"] }
      _ = try await client.request("test/advanceClock", ["by": 1])
      _ = try await adding.result
      let settled = try await list.state
      #expect(settled.titles == ["Bread", "Milk"])
      #expect(try await settled == list.confirmed.state)

      // The update of a cancelled input disappears.
      _ = try await client.request(
        "test/injectFault", ["store": "todo", "operation": "addTodo", "fault": ["type": "hang"]])
      let hanging = Task {
        try await list.send(.todoAdded(title: TodoTitle("Salt"))) { $0.adding("Salt") }
      }
      _ = try await list.waitUntil { $0.titles.last == "Salt" }
      hanging.cancel()
      await #expect(throws: CancellationError.self) { try await hanging.value }
      #expect(try await list.titles == ["Bread", "Milk"])
    }
  }

  @Test("without settle, it is applied until the update with its change")
  func untilApplied() async throws {
    try await withClient(.program([Program.path, "serve"]), .soon) { client in
      let list = try await client.open(.todo, name: "list", config: ["memory": ["count": 0]])
      try await list.send(.stateRequested)
      var pending: [PendingInput] = []
      for title in ["a", "b", "c"] {
        pending.append(
          try await list.post(.todoAdded(title: TodoTitle(title)), settle: false) {
            $0.adding(title)
          })
      }
      // At any time each title is shown once.
      #expect(try await list.titles == ["a", "b", "c"])
      for input in pending { _ = try await input.result }
      #expect(try await list.titles == ["a", "b", "c"])
      #expect(try await list.state == list.confirmed.state)
    }
  }

  @Test("rate-limited inputs are sent again in order")
  func tooFast() async throws {
    let server = try Listening.server(["--maximum-inputs-per-second", "20"])
    try await withClient(server.address(), .soon) { client in
      let list = try await client.open(.todo, name: "list", config: ["memory": ["count": 0]])
      try await list.send(.stateRequested)
      let titles = (0..<60).map(String.init)
      var pending: [PendingInput] = []
      for title in titles {
        pending.append(try await list.post(.todoAdded(title: TodoTitle(title))))
      }
      for input in pending { _ = try await input.result }
      #expect(try await list.titles == titles)
    }
  }

  @Test("inputs that are cancelled while they are refused do not block later ones")
  func givenUp() async throws {
    let server = try Listening.server(["--maximum-inputs-per-second", "20"])
    try await withClient(server.address(), .soon) { client in
      let list = try await client.open(.todo, name: "list", config: ["memory": ["count": 0]])
      try await list.send(.stateRequested)
      var before: [PendingInput] = []
      for number in 0..<30 {
        before.append(try await list.post(.todoAdded(title: TodoTitle("a\(number)"))))
      }
      let given = (0..<10).map { number in
        Task { try await list.send(.todoAdded(title: TodoTitle("x\(number)"))) }
      }
      for task in given { task.cancel() }
      for task in given { _ = await task.result }
      let last = try await list.post(.todoAdded(title: TodoTitle("last")))
      for input in before { _ = try await input.result }
      _ = try await last.result
      let titles = try await list.titles.filter { !$0.hasPrefix("x") }
      #expect(titles == (0..<30).map { "a\($0)" } + ["last"])
      #expect(try await list.verify())
    }
  }

  @Test("at most `maximumPending` inputs are pending")
  func bounded() async throws {
    try await withClient(
      .program([Program.path, "serve"]), .soon.with { $0.maximumPending = 2 }
    ) { client in
      let list = try await client.open(.todo, name: "list", config: ["memory": ["count": 0]])
      try await list.send(.stateRequested)
      var pending: [PendingInput] = []
      for number in 0..<50 {
        pending.append(try await list.post(.todoAdded(title: TodoTitle("\(number)"))))
      }
      for input in pending { _ = try await input.result }
      #expect(try await list.titles == (0..<50).map(String.init))
    }
  }

  @Test("the balance is redacted while inactive, also on the next connection")
  func unseen() async throws {
    let server = try Listening.server(["--test"])
    try await withClient(server.address(), .soon) { client in
      let balance = try await client.open(.balance)
      try await balance.send(.viewDidAppear, settle: true)
      #expect(try await balance.state.formattedBalance == "$1.23")
      try await client.setPhase(.inactive)
      #expect(try await balance.state.formattedBalance == "--")
      let revision = try await balance.confirmed.revision
      await client.cut()
      try await client.status { await client.reconnects == 1 }
      _ = try await client.request("ping")
      #expect(try await balance.state.formattedBalance == "--")
      // Attaching makes the frontend active; the notification after it makes it inactive again.
      #expect(try await balance.confirmed.revision <= revision + 2)
      try await client.setPhase(.active)
      #expect(try await balance.state.formattedBalance == "$1.23")
    }
  }

  // The phase was sent with the request only, and `setPhase` sends nothing before the response.
  @Test("a phase that changes while the client attaches is reported")
  func phaseDuringAttaching() async throws {
    let server = try #require(Address("tcp://127.0.0.1:1"))
    let options = ClientOptions.soon.with { $0.session = "session" }
    let phases: [(FrontendLifecycle.Phase, FrontendLifecycle.Phase, sent: [String])] = [
      (.inactive, .active, ["inactive", "active"]), (.active, .inactive, ["inactive"]),
      (.inactive, .inactive, ["inactive"]), (.active, .active, []),
    ]
    for (before, after, sent) in phases {
      let client = Client(server, options)
      #expect(try await client.attach(in: before, changingTo: after) == sent)
    }
  }

  @Test("states are verified periodically")
  func compared() async throws {
    let options = ClientOptions.soon.with {
      $0.pingInterval = .milliseconds(10)
      $0.verifyInterval = .milliseconds(10)
    }
    try await withClient(.program([Program.path, "serve"]), options) { client in
      let list = try await client.open(.todo, name: "list", config: memory)
      try await list.send(.stateRequested)
      await client.spoil()
      // Each revision is verified once, and this one may have been verified already.
      try await list.send(.todoCompleted(id: "3"))
      _ = try await list.waitUntil { $0.titles.first == "Todo 1" }
      #expect(await list.resyncs == [.digest: 1])
    }
  }
}
