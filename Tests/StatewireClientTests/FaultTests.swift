// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import Testing

@testable import StatewireClient

@Suite("Conformance: planted faults and random cuts", .timeLimit(.minutes(15)), .serialized)
struct FaultTests {
  static let names: [String] =
    (try? Program.vectors("faults.json"))?["scenarios"]?.array?.compactMap { $0["name"]?.string }
    ?? []

  @Test("the scenarios are there")
  func scenarios() {
    #expect(FaultTests.names.count > 10)
  }

  @Test("a divergence is noticed and repaired", arguments: names)
  func heals(name: String) async throws {
    let data = try Program.vectors("faults.json")
    let scenario = try #require(data["scenarios"]?.array?.first { $0["name"]?.string == name })
    let options = data["server"]?.array?.compactMap(\.string) ?? []
    let server = try Listening.server(options)
    let proxy = try Listening.proxy(server, ["--scenario", name])
    let direct = try server.address()
    let kind = Kind<JSONValue, JSONValue>(try #require(data["kind"]?.string))
    let storeName = try #require(data["store"]?.string)
    let noticed = Set(scenario["noticed"]?.array?.compactMap(\.string) ?? [])

    try await withClient(proxy.address(), .soon) { client in
      let store = try await client.open(kind, name: storeName, config: data["config"])
      for input in data["inputs"]?.array ?? [] { try await store.send(input) }
      let wasRight = try await store.verify()
      let (state, revision) = try await store.confirmed
      #expect(state == data["state"])
      #expect(revision == data["revision"]?.int)
      #expect(Int(try JSON.digest(of: state)) == data["digest"]?.int)
      #expect(await Set(store.resyncs.keys.map(\.rawValue)) == noticed)
      #expect(wasRight == !noticed.contains("digest"))
      #expect(try await store.verify())

      let session = await client.session
      try await withClient(direct, .soon.with { $0.session = session }) { other in
        let opened = try await other.open(kind, name: storeName).state
        #expect(opened == state)
      }
    }
    let planted = try proxy.lines().map { try JSONValue(parsing: $0) }
    #expect(planted == scenario["plant"]?.array)
  }

  @Test("each input is applied exactly once when connections end anywhere")
  func cuts() async throws {
    let server = try Listening.server()
    let proxy = try Listening.proxy(server, ["--cuts", "50", "--seed", "1"])
    let options = ClientOptions.soon.with {
      $0.retriesInitialConnection = true
      $0.maximumPending = 16
      $0.verifyInterval = nil
    }
    try await withClient(proxy.address(), options) { client in
      let store = try await client.open(.todo, name: "list", config: ["memory": ["count": 0]])
      try await store.send(.stateRequested)
      let titles = (0..<500).map { "todo \($0)" }
      var pending: [PendingInput] = []
      for title in titles { pending.append(try await store.post(.todoAdded(title: .init(title)))) }
      for input in pending { #expect(try await input.result.revision <= 501) }
      #expect(try await store.titles == titles)
      #expect(try await store.verify())
      #expect(try await store.confirmed.revision == 501)
      #expect(await store.resyncs == [:])
      #expect(await client.reconnects > 10)
    }
  }
}
