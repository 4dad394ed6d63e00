// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import Foundation
import TestSupport
import Testing

@testable import StatewireClient

@Suite("Swift client", .timeLimit(.minutes(15)))
struct ClientTests {
  @Test("spawns the program and receives events")
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
      let list = try await client.open(.todo, name: "list", config: memory)
      let untyped = try await client.open(
        Kind<JSONValue, JSONValue>("todo"), name: "list", config: memory)
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
            _ = try await other.open(.todo, name: "list", config: ["memory": ["count": 4]])
          }?.code == .otherConfiguration)
      }
      try await withClient(server.address(), there.with { $0.role = .observer }) { watching in
        let same = try await watching.open(.todo, name: "list")
        #expect(await refused { try await same.send(.stateRequested) }?.code == .observer)
        try await watching.setRole(.driver)
        try await same.send(.stateRequested)
        #expect(try await same.titles.count == 3)
      }
      try await list.unsubscribe()
      #expect(await failure { try await list.send(.stateRequested) } == .storeClosed)
    }
  }

  @Test("keeps a store that is opened while the role changes")
  func roleDuringOpening() async throws {
    let server = try Listening.server()
    try await withClient(server.address()) { client in
      let list = try await client.open(.todo, name: "list", config: ["memory": ["count": 3]])
      let session = await client.session
      let there = ClientOptions.soon.with {
        $0.session = session
        $0.role = .observer
      }
      try await withClient(server.address(), there) { watching in
        try await watching.connected()
        async let opened = watching.open(.todo, name: "list")
        async let changed: Void = watching.setRole(.driver)
        let (same, _) = try await (opened, changed)
        try await list.send(.stateRequested)
        _ = try await same.waitUntil { $0.titles.count == 3 }
      }
    }
  }

  @Test("reports why the first connection fails")
  func first() async throws {
    let noServer = try #require(Address("unix:/tmp/statewire-no-server"))
    for address in [noServer, .program([Program.path + "-that-is-not-there"])] {
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

  @Test("yields the latest state; earlier states do not change")
  func newest() async throws {
    try await withClient(.program([Program.path, "serve"]), .soon) { client in
      let list = try await client.open(.todo, name: "list", config: memory)
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
      #expect(try await list.waitUntil { $0.titles.count == 102 }.titles.first == "Todo 2")
      await client.close()
      #expect(try await states.next() == nil)
    }
  }

  @Test("resumes after the server was killed")
  func resumes() async throws {
    let folder = try TestFolder()
    let socket = folder.file("socket")
    let options = ["--data-dir", folder.file("data")]
    let address = try #require(Address("unix:\(socket)"))
    var server = try Listening.server(options, at: ["--unix", socket])
    try await withClient(address, .soon) { client in
      let list = try await client.open(.todo, name: "list", config: memory)
      try await list.send(.stateRequested)
      let handle = await client.session
      for round in 0..<3 {
        server.kill()
        // The inputs wait for the server and are applied once.
        var pending: [PendingInput] = []
        for number in 0..<5 {
          pending.append(try await list.post(.todoAdded(title: TodoTitle("\(round) \(number)"))))
        }
        try await client.status(.reconnecting)
        server = try Listening.server(options, at: ["--unix", socket])
        for input in pending { _ = try await input.result }
        #expect(try await list.titles.count == 3 + 5 * (round + 1))
        #expect(try await list.verify())
      }
      #expect(await client.session == handle)
      #expect(await client.reconnects == 3)
      #expect(await list.resyncs == [:])
    }
  }

  @Test("drops the connection to a silent server and reconnects")
  func silent() async throws {
    let server = try Listening.server()
    let options = ClientOptions.soon.with {
      $0.retriesInitialConnection = true
      $0.pingInterval = .milliseconds(10)
      $0.timeout = .milliseconds(500)
    }
    try await withClient(server.address(), options) { client in
      try await client.status(.connected)
      server.freeze(true)
      try await client.status(.reconnecting)
      server.freeze(false)
      try await client.status { await client.reconnects > 0 }
    }
  }

  @Test("an unreadable certificate file closes the client")
  func unusableFile() async throws {
    let address = try #require(Address("tls://127.0.0.1:1", authority: "/none"))
    let client = Client(address, ClientOptions.soon.with { $0.retriesInitialConnection = true })
    let error = await #expect(throws: StatewireError.self) { try await client.run() }
    let cause = "\(error?.cause as Any)"
    #expect(cause.contains("/none"))
  }

  @MainActor
  @Test("can be used from an actor")
  func onMainActor() async throws {
    var seen: [String] = []
    try await withClient(.program([Program.path, "serve"]), .soon) { client in
      let list = try await client.open(.todo, name: "list", config: memory)
      try await list.send(.stateRequested)
      for try await state in list.states {
        MainActor.assertIsolated()
        seen = state.titles
        if !seen.isEmpty { return }
      }
    }
    #expect(seen == ["Todo 1", "Todo 2", "Todo 3"])
  }

  @Test("opens a new session after the old one is lost, and fails inputs with an unknown result")
  func beginsAgain() async throws {
    let folder = try TestFolder()
    let socket = folder.file("socket")
    let address = try #require(Address("unix:\(socket)"))
    var server = try Listening.server(["--test"], at: ["--unix", socket])
    try await withClient(address, .soon) { client in
      let list = try await client.open(.todo, name: "list", config: memory)
      try await list.send(.stateRequested)
      _ = try await client.request(
        "test/injectFault",
        ["store": "list", "operation": "addTodo", "fault": ["type": "hang"]])
      let unknown = try await list.post(.todoAdded(title: TodoTitle("?")), settle: true)
      _ = try await client.request("ping")
      server.kill()
      try await client.status(.reconnecting)
      let later = try await list.post(.stateRequested)
      server = try Listening.server(["--test"], at: ["--unix", socket])
      #expect(await failure { _ = try await unknown.result } == .sessionLost)
      _ = try await later.result
      #expect(try await list.titles == ["Todo 1", "Todo 2", "Todo 3"])
      #expect(try await list.verify())
    }
  }

  @Test("an evicted client does not reconnect")
  func evicted() async throws {
    let server = try Listening.server()
    try await withClient(server.address(), .soon.with { $0.frontend = "page" }) { first in
      let list = try await first.open(.todo, name: "list", config: memory)
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

  @Test("a store or a session that another client closes")
  func closed() async throws {
    let server = try Listening.server()
    try await withClient(server.address(), .soon) { watching in
      let list = try await watching.open(.todo, name: "list", config: memory)
      let kept = try await watching.open(.todo, name: "kept", config: memory)
      var received = await watching.notifications().makeAsyncIterator()
      let session = await watching.session
      try await withClient(server.address(), .soon.with { $0.session = session }) { other in
        _ = try await other.request("store/close", ["store": "list"])
        #expect(await failure { for try await _ in list.states {} } == .storeClosed)
        let again = try await watching.open(.todo, name: "list", config: memory)
        #expect(try await again.state == .loading)
        try await other.endSession()
      }
      #expect(await failure { for try await _ in kept.states {} } == .sessionClosed)
      var methods: [String] = []
      while let one = try? await received.next() { methods.append(one.method) }
      #expect(methods.last == "session/closed")
    }
  }

  @Test("cancellation and timeouts cancel inputs on the server")
  func cancelling() async throws {
    try await withClient(.program([Program.path, "serve", "--test"]), .soon) { client in
      let loader = try await client.open(
        .loading, name: "a",
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
      _ = try await loader.waitUntil(isLoading)
      loading.cancel()
      await #expect(throws: CancellationError.self) { try await loading.value }
      _ = try await client.request("test/advanceClock", ["by": 10])
      #expect(try await isLoading(loader.state), "the load was cancelled")
      try await loader.send(.reset)
      #expect(
        await failure {
          try await loader.send(.load, settle: true, timeout: .milliseconds(10))
        } == .timedOut)
      #expect(
        await failure {
          _ = try await loader.waitUntil(timeout: .milliseconds(10)) { _ in false }
        } == .timedOut)
      _ = try await client.request("test/advanceClock", ["by": 10])
      let isLoaded = if case .loaded = try await loader.state { true } else { false }
      #expect(!isLoaded)
      // The next load succeeds.
      try await loader.send(.reset)
      let settled = try await loader.post(.load, settle: true)
      _ = try await client.request("test/advanceClock", ["by": 10])
      _ = try await settled.result
      #expect(try await !isLoading(loader.state))
    }
  }
}
