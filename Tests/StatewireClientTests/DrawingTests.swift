// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import Testing

@testable import StatewireClient

@Suite("Swift client, drawing and waiting", .timeLimit(.minutes(5)))
struct DrawingTests {
  @Test("is drawn until the settled answer, on top of what others change")
  func drawn() async throws {
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
      let drawn = try await list.first { $0.titles == ["Milk"] }
      #expect(drawn == .content(todos: [Todo(id: "drawn", title: "Milk")]))
      #expect(try await list.confirmed.state.titles == [])
      let session = await client.session
      try await withClient(server.address(), .soon.with { $0.session = session }) { other in
        let same = try await other.open(.todo)
        try await same.send(.todoAdded(title: TodoTitle("Bread")), settle: true)
      }
      _ = try await list.first { $0.titles == ["Bread", "Milk"] }
      _ = try await client.request("test/advanceClock", ["by": 1])
      _ = try await adding.answer
      let settled = try await list.state
      #expect(settled.titles == ["Bread", "Milk"])
      #expect(try await settled == list.confirmed.state)

      // What is refused disappears.
      _ = try await client.request(
        "test/injectFault", ["store": "todo", "operation": "addTodo", "fault": ["type": "hang"]])
      let hanging = Task {
        try await list.send(.todoAdded(title: TodoTitle("Salt"))) { $0.adding("Salt") }
      }
      _ = try await list.first { $0.titles.last == "Salt" }
      hanging.cancel()
      await #expect(throws: CancellationError.self) { try await hanging.value }
      #expect(try await list.titles == ["Bread", "Milk"])
    }
  }

  @Test("is drawn until the frame, where nothing is to settle")
  func drawnUntilApplied() async throws {
    try await withClient(.program([Program.path, "serve"]), .soon) { client in
      let list = try await client.open(.todo, as: "list", config: ["memory": ["count": 0]])
      try await list.send(.stateRequested)
      var answers: [Posted] = []
      for title in ["a", "b", "c"] {
        answers.append(
          try await list.post(.todoAdded(title: TodoTitle(title)), settle: false) {
            $0.adding(title)
          })
      }
      // Drawn or there: each is seen once, at any time.
      #expect(try await list.titles == ["a", "b", "c"])
      for answer in answers { _ = try await answer.answer }
      #expect(try await list.titles == ["a", "b", "c"])
      #expect(try await list.state == list.confirmed.state)
    }
  }

  @Test("inputs that come too fast come again, in their order")
  func tooFast() async throws {
    let server = try Listening.server(["--maximum-inputs-per-second", "20"])
    try await withClient(server.address(), .soon) { client in
      let list = try await client.open(.todo, as: "list", config: ["memory": ["count": 0]])
      try await list.send(.stateRequested)
      let titles = (0..<60).map(String.init)
      var answers: [Posted] = []
      for title in titles {
        answers.append(try await list.post(.todoAdded(title: TodoTitle(title))))
      }
      for answer in answers { _ = try await answer.answer }
      #expect(try await list.titles == titles)
    }
  }

  @Test("inputs that are given up while they are refused keep no place")
  func givenUp() async throws {
    let server = try Listening.server(["--maximum-inputs-per-second", "20"])
    try await withClient(server.address(), .soon) { client in
      let list = try await client.open(.todo, as: "list", config: ["memory": ["count": 0]])
      try await list.send(.stateRequested)
      var before: [Posted] = []
      for number in 0..<30 {
        before.append(try await list.post(.todoAdded(title: TodoTitle("a\(number)"))))
      }
      let given = (0..<10).map { number in
        Task { try await list.send(.todoAdded(title: TodoTitle("x\(number)"))) }
      }
      for task in given { task.cancel() }
      for task in given { _ = await task.result }
      let last = try await list.post(.todoAdded(title: TodoTitle("last")))
      for answer in before { _ = try await answer.answer }
      _ = try await last.answer
      let titles = try await list.titles.filter { !$0.hasPrefix("x") }
      #expect(titles == (0..<30).map { "a\($0)" } + ["last"])
      #expect(try await list.check())
    }
  }

  @Test("no more inputs wait than may")
  func bounded() async throws {
    try await withClient(
      .program([Program.path, "serve"]), .soon.with { $0.maximumWaiting = 2 }
    ) { client in
      let list = try await client.open(.todo, as: "list", config: ["memory": ["count": 0]])
      try await list.send(.stateRequested)
      var answers: [Posted] = []
      for number in 0..<50 {
        answers.append(try await list.post(.todoAdded(title: TodoTitle("\(number)"))))
      }
      for answer in answers { _ = try await answer.answer }
      #expect(try await list.titles == (0..<50).map(String.init))
    }
  }

  @Test("hides what nobody looks at, on the next connection too")
  func unseen() async throws {
    let server = try Listening.server(["--test"])
    try await withClient(server.address(), .soon) { client in
      let balance = try await client.open(.balance)
      try await balance.send(.viewDidAppear, settle: true)
      #expect(try await balance.state.formattedBalance == "$1.23")
      try await client.look(false)
      #expect(try await balance.state.formattedBalance == "--")
      let revision = try await balance.confirmed.revision
      await client.cut()
      try await client.status { await client.resumptions == 1 }
      _ = try await client.request("ping")
      #expect(try await balance.state.formattedBalance == "--")
      // Attaching shows it, and the word right behind that hides it again.
      #expect(try await balance.confirmed.revision <= revision + 2)
      try await client.look(true)
      #expect(try await balance.state.formattedBalance == "$1.23")
    }
  }

  @Test("states are compared with the server's by themselves")
  func compared() async throws {
    let options = ClientOptions.soon.with {
      $0.pingEvery = .milliseconds(10)
      $0.checkEvery = .milliseconds(10)
    }
    try await withClient(.program([Program.path, "serve"]), options) { client in
      let list = try await client.open(.todo, as: "list", config: memory)
      try await list.send(.stateRequested)
      await client.spoil()
      // Each revision is compared once, and perhaps this one was just before.
      try await list.send(.todoCompleted(id: "3"))
      _ = try await list.first { $0.titles.first == "Todo 1" }
      #expect(await list.resynchronisations == [.digest: 1])
    }
  }
}
