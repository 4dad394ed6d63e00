// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing
import Transports

@testable import StatewireServer

@Suite("Number of shards")
struct ShardCountTests {
  private struct Counter: StateMachine {
    enum Input: Codable, Sendable { case counted }
    struct State: Codable, Sendable { var count = 0 }

    let initialState = State()

    func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
    func reduce(_ state: inout State, _ action: Input) { state.count += 1 }
  }

  private static let own = StoreKind("own") { Counter() }
  private static let shared = StoreKind("shared", scope: .shared()) { Counter() }

  private static func configuration(listens: Bool = true) -> ServerConfiguration {
    var configuration = ServerConfiguration(kinds: [])
    if listens { configuration.listeners = [.tcp(host: "127.0.0.1", port: 0)] }
    return configuration
  }

  @Test("by default a server that listens has a shard for each processor, and any other has one")
  func standard() {
    #expect(Self.configuration().shardCount([Self.own]) == Server.processors)
    #expect(Self.configuration().shardCount([Self.own, Self.shared]) == 1)
    #expect(Self.configuration(listens: false).shardCount([Self.own]) == 1)
    var test = Self.configuration()
    test.isTest = true
    #expect(test.shardCount([Self.own]) == 1)
  }

  @Test("a number of shards is from 1 to 256", arguments: [-1, 0, 257, .max])
  func range(_ count: Int) async throws {
    var configuration = Self.configuration()
    configuration.shards = count
    #expect(throws: StartupError.self) { try configuration.checkLimits() }
    await #expect(throws: StartupError.self) { try await ServerParts.open(configuration) }
    await #expect(throws: StartupError.self) {
      try await Server.start(kinds: [], listeners: configuration.listeners, shards: count)
    }
  }

  @Test("a server that can have only one shard refuses more")
  func refused() async throws {
    let listener = ServerAddress.tcp(host: "127.0.0.1", port: 0)
    await #expect(throws: StartupError.self) {
      _ = try await Server.start(kinds: [Self.shared], listeners: [listener], shards: 2)
    }
    await #expect(throws: StartupError.self) {
      _ = try await Server.start(kinds: [], listeners: [], stdio: true, shards: 2)
    }
    await #expect(throws: StartupError.self) {
      _ = try await Server.start(
        kinds: [], listeners: [listener], shards: 2, testing: OutsideWork())
    }
  }
}
