// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import StatewireClient

/// A list in memory with three todos.
private let memory: JSONValue = ["memory": ["count": 3]]

@Suite("Swift client", .timeLimit(.minutes(5)))
struct ClientTests {
  @Test("spawns the program, and hears events")
  func spawned() async throws {
    try await withClient(.program([Program.path, "serve", "--test"]), .soon) { client in
      let form = try await client.open(.form)
      var events = try await form.events(of: FormEvent.self).makeAsyncIterator()
      #expect(try await !form.state.submitAllowed)
      let entry = try JSON.decode(FormEntry.self, from: "swordfish")
      try await form.send(.entriesChanged(firstEntry: entry, secondEntry: entry))
      #expect(try await form.state.submitAllowed)
      try await form.send(.submitTapped)
      #expect(try await events.next() == .submitted)
    }
  }

  @Test("errors are typed")
  func errors() async throws {
    let server = try Listening.server()
    try await withClient(server.address(), .soon) { client in
      let list = try await client.open(.todo, as: "list", config: memory)
      let untyped = try await client.open(
        Kind<JSONValue, JSONValue>("todo"), as: "list", config: memory)
      let refusal = try #require(
        await refused { try await untyped.send(["type": "todoAdded", "title": " "]) })
      #expect(refusal.code == .invalidParams && refusal.path == "/input/title")
      #expect(
        await refused { _ = try await client.open(Kind<JSONValue, JSONValue>("no such kind")) }?
          .code == .unknownStore)
      #expect(
        await refused { _ = try await client.request("test/advanceClock", ["by": 1]) }?.code
          == .methodNotFound)
      let session = await client.session
      let there = ClientOptions.soon.with { $0.session = session }
      try await withClient(server.address(), there) { other in
        #expect(
          await refused {
            _ = try await other.open(.todo, as: "list", config: ["memory": ["count": 4]])
          }?.code == .otherConfiguration)
      }
      try await withClient(server.address(), there.with { $0.role = .observer }) { watching in
        let same = try await watching.open(.todo, as: "list")
        #expect(await refused { try await same.send(.stateRequested) }?.code == .observer)
        try await watching.become(.driver)
        try await same.send(.stateRequested)
        #expect(try await same.titles.count == 3)
      }
      try await list.close()
      #expect(await failure { try await list.send(.stateRequested) } == .storeClosed)
    }
  }

  @Test("the first connection fails, and says why")
  func first() async throws {
    let nobody = try #require(Address("unix:/tmp/statewire-nobody-is-there"))
    for address in [nobody, .program([Program.path + "-that-is-not-there"])] {
      #expect(
        await failure { try await withClient(address) { try await $0.connected() } }
          == .connectionLost)
    }
    #expect(Address("nonsense") == nil)
    let server = try Listening.server()
    let address = try server.address()
    #expect(
      await refused {
        try await withClient(address, .soon.with { $0.session = "never was" }) {
          try await $0.connected()
        }
      }?.code == .unknownSession)
  }

  @Test("states are the newest, and stay as they were handed out")
  func newest() async throws {
    try await withClient(.program([Program.path, "serve"]), .soon) { client in
      let list = try await client.open(.todo, as: "list", config: memory)
      var states = list.states.makeAsyncIterator()
      #expect(try await states.next() == .loading)
      try await list.send(.stateRequested)
      for number in 0..<100 {
        try await list.post(.todoAdded(title: TodoTitle("\(number)")))
      }
      try await list.send(.todoRenamed(id: "1", title: TodoTitle("last")))
      let seen = try #require(try await states.next())
      #expect(seen.titles.count == 103 && seen.titles[0] == "last")
      try await list.send(.todoRemoved(id: "1"))
      #expect(try await states.next()?.titles.first == "Todo 2")
      #expect(try await list.first { $0.titles.count == 102 }.titles.first == "Todo 2")
      await client.close()
      #expect(try await states.next() == nil)
    }
  }

  @Test("resumes after the server was killed")
  func resumes() async throws {
    let folder = try Folder()
    let socket = folder.file("socket")
    let options = ["--data-dir", folder.file("data")]
    let address = try #require(Address("unix:\(socket)"))
    var server = try Listening.server(options, at: ["--unix", socket])
    try await withClient(address, .soon) { client in
      let list = try await client.open(.todo, as: "list", config: memory)
      try await list.send(.stateRequested)
      let handle = await client.session
      for round in 0..<3 {
        server.kill()
        // It waits, and is applied once, whenever the server comes back.
        var answers: [Posted] = []
        for number in 0..<5 {
          answers.append(try await list.post(.todoAdded(title: TodoTitle("\(round) \(number)"))))
        }
        try await client.status(.waiting)
        server = try Listening.server(options, at: ["--unix", socket])
        for answer in answers { _ = try await answer.answer }
        #expect(try await list.titles.count == 3 + 5 * (round + 1))
        #expect(try await list.check())
      }
      #expect(await client.session == handle)
      #expect(await client.resumptions == 3)
      #expect(await list.resynchronisations == [:])
    }
  }

  @Test("begins again where the session is gone, and says what it does not know")
  func beginsAgain() async throws {
    let folder = try Folder()
    let socket = folder.file("socket")
    let address = try #require(Address("unix:\(socket)"))
    var server = try Listening.server(["--test"], at: ["--unix", socket])
    try await withClient(address, .soon) { client in
      let list = try await client.open(.todo, as: "list", config: memory)
      try await list.send(.stateRequested)
      _ = try await client.request(
        "test/injectFault",
        ["store": "list", "operation": "addTodo", "fault": ["type": "hang"]])
      let unknown = try await list.post(.todoAdded(title: TodoTitle("?")), settle: true)
      _ = try await client.request("ping")
      server.kill()
      try await client.status(.waiting)
      let later = try await list.post(.stateRequested)
      server = try Listening.server(["--test"], at: ["--unix", socket])
      #expect(await failure { _ = try await unknown.answer } == .sessionLost)
      _ = try await later.answer
      #expect(try await list.titles == ["Todo 1", "Todo 2", "Todo 3"])
      #expect(try await list.check())
    }
  }

  @Test("who is evicted does not come back")
  func evicted() async throws {
    let server = try Listening.server()
    try await withClient(server.address(), .soon.with { $0.frontend = "page" }) { first in
      let list = try await first.open(.todo, as: "list", config: memory)
      let session = await first.session
      let options = ClientOptions.soon.with { ($0.session, $0.frontend) = (session, "page") }
      try await withClient(server.address(), options) { second in
        try await second.connected()
        #expect(await failure { for try await _ in list.states {} } == .evicted)
        #expect(await first.status == .closed)
        #expect(await failure { try await list.send(.stateRequested) } == .evicted)
      }
    }
  }

  @Test("a store or a session that somebody else closes")
  func closed() async throws {
    let server = try Listening.server()
    try await withClient(server.address(), .soon) { watching in
      let list = try await watching.open(.todo, as: "list", config: memory)
      let kept = try await watching.open(.todo, as: "kept", config: memory)
      var told = await watching.listen().makeAsyncIterator()
      let session = await watching.session
      try await withClient(server.address(), .soon.with { $0.session = session }) { other in
        _ = try await other.request("store/close", ["store": "list"])
        #expect(await failure { for try await _ in list.states {} } == .storeClosed)
        let again = try await watching.open(.todo, as: "list", config: memory)
        #expect(try await again.state == .loading)
        try await other.endSession()
      }
      #expect(await failure { for try await _ in kept.states {} } == .sessionClosed)
      var methods: [String] = []
      while let one = try? await told.next() { methods.append(one.method) }
      #expect(methods.last == "session/closed")
    }
  }

  @Test("cancelling and time-outs cancel on the server")
  func cancelling() async throws {
    try await withClient(.program([Program.path, "serve", "--test"]), .soon) { client in
      let loader = try await client.open(
        .loading, as: "a",
        config: [
          "type": "mock",
          "states": [
            ["state": ["type": "loading", "progress": nil]],
            ["after": 5, "state": ["type": "loaded", "value": 1]],
          ],
        ])
      let isLoading: @Sendable (LoadingViewState) -> Bool = {
        if case .loading = $0 { true } else { false }
      }
      let loading = Task { try await loader.send(.load, settle: true) }
      _ = try await loader.first(where: isLoading)
      loading.cancel()
      await #expect(throws: CancellationError.self) { try await loading.value }
      _ = try await client.request("test/advanceClock", ["by": 10])
      #expect(try await isLoading(loader.state), "nothing was loaded")
      try await loader.send(.reset)
      #expect(
        await failure {
          try await loader.send(.load, settle: true, timeout: .milliseconds(10))
        } == .timedOut)
      #expect(
        await failure {
          _ = try await loader.first(within: .milliseconds(10)) { $0 == .idle }
        } == .timedOut)
      _ = try await client.request("test/advanceClock", ["by": 10])
      #expect(try await isLoading(loader.state))
      // And nothing of it stands in the way of what comes then.
      try await loader.send(.reset)
      let settled = try await loader.post(.load, settle: true)
      _ = try await client.request("test/advanceClock", ["by": 10])
      _ = try await settled.answer
      #expect(try await !isLoading(loader.state))
    }
  }
}

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
      _ = try await list.first { $0.titles.first == "Todo 1" }
      #expect(await list.resynchronisations == [.digest: 1])
    }
  }
}

// MARK: - Support

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

  /// What a wrong patch would have left behind.
  func spoil() {
    for record in records.values {
      guard let view = record.view else { continue }
      view.reset(revision: view.revision, state: ["type": "content", "todos": []])
      record.held(nil)
    }
  }
}
