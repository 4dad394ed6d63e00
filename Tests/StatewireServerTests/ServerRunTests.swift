// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import Logging
import StateMachines
import StatewireServer
import Testing

// One after another, because a signal to the process ends the server of each test that handles it.
@Suite("Server without a command line", .serialized, .timeLimit(.minutes(15)))
struct ServerRunTests {
  private struct Counter: StateMachine {
    enum Input: Codable, Sendable { case tapped }
    enum Action: Sendable { case counted }
    struct State: Codable, Sendable { var count = 0 }
    let initialState = State()
    func effect(of input: Input, in state: State) -> Effect<Action> { .action(.counted) }
    func reduce(_ state: inout State, _ action: Action) { state.count += 1 }
  }

  private static let counter = StoreKind("counter") { Counter() }

  private static let configuration = {
    var configuration = ServerConfiguration(
      kinds: [counter], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    configuration.listeners = [.tcp(host: "127.0.0.1", port: 0)]
    configuration.handlesSignals = false
    return configuration
  }()

  @Test("the server serves its kind, and ends with its task")
  func cancelled() async throws {
    let (addresses, started) = AsyncStream.makeStream(of: ServerAddress.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await Server.run(Self.configuration) { addresses in
          for address in addresses { started.yield(address) }
        }
      }
      var iterator = addresses.makeAsyncIterator()
      let address = try #require(await iterator.next())
      let client = try await ClientConnection.connect(to: address, framing: .lines)
      try await client.send(
        Array(
          #"{"jsonrpc":"2.0","id":1,"method":"store/state","params":{"store":"counter"}}"#.utf8))
      let response = try #require(try await client.receive())
      #expect(String(decoding: response, as: UTF8.self).contains(#""state":{"count":0}"#))
      group.cancelAll()
      #expect(try await client.receive() == nil)
      await client.close()
      try await group.waitForAll()
    }
  }

  @Test("the server ends at SIGTERM, several times in one process")
  func terminated() async throws {
    var configuration = Self.configuration
    configuration.handlesSignals = true
    for _ in 0..<3 {
      try await Server.run(configuration) { _ in _ = kill(getpid(), SIGTERM) }
    }
  }

  @Test("the server does not start if its address cannot be used")
  func addressTaken() async throws {
    var configuration = Self.configuration
    configuration.listeners = [.tcp(host: "192.0.2.1", port: 0)]
    do {
      try await Server.run(configuration)
      Issue.record("the server started")
    } catch let error as StartupError {
      #expect(error.message.contains("192.0.2.1"))
    }
  }

  /// A machine whose state has a member of which no schema can be derived.
  private struct Unclear: StateMachine {
    struct Opaque: Codable, Sendable {
      init() {}
      init(from decoder: any Decoder) throws { throw CancellationError() }
      func encode(to encoder: any Encoder) throws {}
    }
    enum Input: Codable, Sendable { case tapped }
    struct State: Codable, Sendable {
      var count = 0
      var last: [Opaque] = []
    }
    let initialState = State()
    func effect(of input: Input, in state: State) -> Effect<Input> { .none }
    func reduce(_ state: inout State, _ action: Input) {}
  }

  /// A log whose lines tests read.
  private struct RecordingLogHandler: LogHandler {
    let lines: AsyncStream<String>.Continuation
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.yield("\(event.level): \(event.message)") }
  }

  @Test("the start names the members that no schema can describe")
  func schemaWarnings() async throws {
    let (lines, log) = AsyncStream.makeStream(of: String.self)
    var configuration = Self.configuration
    configuration.kinds = [StoreKind("unclear") { Unclear() }, Self.counter]
    configuration.logger = Logger(label: "test") { _ in RecordingLogHandler(lines: log) }
    configuration.handlesSignals = true
    try await Server.run(configuration) { _ in _ = kill(getpid(), SIGTERM) }
    log.finish()
    let warnings = await lines.filter { $0.hasPrefix("warning: ") }.reduce(into: []) {
      $0.append($1)
    }
    #expect(
      warnings == [
        "warning: kind unclear: viewState.last: Opaque cannot be decoded from small values, and does"
          + " not describe itself (JSONDescribed)"
      ])
  }
}
