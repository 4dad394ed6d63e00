// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Dispatch
import ServerCore
import StateMachines
import TestSupport
import Testing
import TransportTestSupport

@testable import Transports

@Suite("Metrics of a server", .timeLimit(.minutes(15)))
struct MetricsTests {
  @Test("count connections, stores, inputs, updates, errors, effects and turns")
  func counts() async throws {
    let status = ServerStatus(measuresTurns: true)
    let server = try await Server.start(
      kinds: [StoreKind("tally") { MetricsTally() }], settings: .patient,
      listeners: [.tcp(host: "127.0.0.1", port: 0)], shards: 2, status: status)
    let first = try await ClientConnection.connect(to: server.addresses[0])
    let second = try await ClientConnection.connect(to: server.addresses[0])
    #expect(try await second.pings())
    for message in [
      Self.request(1, "store/subscribe", #"{"store":"tally"}"#),
      Self.request(2, "store/send", #"{"store":"tally","input":"add"}"#),
      Self.request(3, "store/send", #"{"store":"tally","input":"wait"}"#),
      Self.request(4, "store/send", #"{"store":"tally","input":"none"}"#),
      Self.request(5, "no/method", "{}"),
    ] { try await first.send(message) }
    var received = 0
    while let line = try await first.receiveText() {
      if line.contains(#""method":"store/changed""#) { received += 1 }
      if line.contains(#""id":5"#) { break }
    }
    #expect(received == 1)
    let values = Values(server.metrics)
    #expect(values["statewire_build_info", "statewire", ""] == 1)
    #expect(values["statewire_ready"] == 1)
    #expect(values["statewire_connections", "tcp"] == 2)
    #expect(values["statewire_connections", "wss"] == 0)
    #expect(values["statewire_stores", "tally"] == 1)
    #expect(values["statewire_inputs_total", "tally"] == 2)
    #expect(values["statewire_updates_total", "tally"] == 1)
    #expect(values["statewire_updates_sent_total"] == 1)
    #expect(values["statewire_errors_total", "InvalidParams"] == 1)
    #expect(values["statewire_errors_total", "MethodNotFound"] == 1)
    #expect(values["statewire_effects_running"] == 1)
    #expect(values["statewire_effects_started_total"] == 1)
    #expect((values["statewire_received_bytes_total", "tcp"] ?? 0) > 400)
    #expect((values["statewire_sent_bytes_total", "tcp"] ?? 0) > 200)
    #expect((values["process_resident_memory_bytes"] ?? 0) > 1_000_000)
    #expect((values["process_open_fds"] ?? 0) > 3)
    let turns = try #require(server.metrics.families.first { $0.description == .turns })
    #expect(turns.samples.map(\.labels) == [["0"], ["1"]])
    await first.close()
    await second.close()
    await eventually("both connections have ended") {
      Values(server.metrics)["statewire_connections", "tcp"] == 0
    }
    let later = Values(server.metrics)
    #expect(later["statewire_stores", "tally"] == 0)
    #expect(later["statewire_effects_running"] == 0)
    #expect(later["statewire_connections_opened_total", "tcp"] == 2)
    await server.stop()
  }

  @Test("a refused connection counts its limit")
  func refused() async throws {
    var limits = ServerLimits()
    limits.connectionsPerAddress = 1
    limits.timeToFirstRequest = nil
    limits.unreadTime = nil
    let server = try await Server.start(
      kinds: [], settings: ServerSettings(limits: limits),
      listeners: [.tcp(host: "127.0.0.1", port: 0)])
    let first = try await ClientConnection.connect(to: server.addresses[0])
    #expect(try await first.pings())
    let second = try await ClientConnection.connect(to: server.addresses[0])
    #expect(try await second.receiveText()?.contains("connectionsPerAddress") == true)
    let values = Values(server.metrics)
    #expect(values["statewire_limits_exceeded_total", "connectionsPerAddress"] == 1)
    #expect(values["statewire_errors_total", "Limit"] == 1)
    #expect(values["statewire_connections", "tcp"] == 1)
    await first.close()
    await second.close()
    await server.stop()
  }

  @Test("kinds after the first 40 are counted together")
  func manyKinds() async throws {
    let server = try await Server.start(
      kinds: (0..<50).map { StoreKind("kind \($0)") { MetricsTally() } }, settings: .patient,
      listeners: [.tcp(host: "127.0.0.1", port: 0)])
    let client = try await ClientConnection.connect(to: server.addresses[0])
    for kind in [0, 48, 49] {
      try await client.send(
        Self.request(kind, "store/subscribe", #"{"store":"kind \#(kind)"}"#))
      _ = try await client.receiveText()
    }
    let stores = try #require(server.metrics.families.first { $0.description == .stores })
    #expect(stores.samples.count == 41)
    let values = Values(server.metrics)
    #expect(values["statewire_stores", "kind 0"] == 1)
    #expect(values["statewire_stores", "other"] == 2)
    await client.close()
    await server.stop()
  }

  @Test("a reading does not wait for a shard that is busy")
  func busy() async throws {
    let gate = DispatchSemaphore(value: 0)
    let (passing, continuation) = AsyncStream.makeStream(of: Void.self)
    let kind = StoreKind("door") {
      MetricsTally {
        continuation.yield()
        gate.wait()
      }
    }
    let server = try await Server.start(
      kinds: [kind], settings: .patient, listeners: [.tcp(host: "127.0.0.1", port: 0)])
    let client = try await ClientConnection.connect(to: server.addresses[0])
    try await client.send(Self.request(1, "store/send", #"{"store":"door","input":"add"}"#))
    for await _ in passing { break }
    #expect(Values(server.metrics)["statewire_inputs_total", "door"] == 0)
    #expect(Values(server.metrics)["statewire_connections", "tcp"] == 1)
    gate.signal()
    _ = try await client.receiveText()
    #expect(Values(server.metrics)["statewire_inputs_total", "door"] == 1)
    await client.close()
    await server.stop()
  }

  @Test("a duration counts in the first bucket whose bound is not below it")
  func histogram() throws {
    let reading = DurationHistogram.Reading(
      bounds: [.milliseconds(1), .seconds(2)], counts: [1, 2, 3], sum: .milliseconds(12_500))
    #expect(reading.count == 6)
    #expect(reading.cumulative.map(\.bound) == ["0.001", "2.0", "+Inf"])
    #expect(reading.cumulative.map(\.count) == [1, 3, 6])
  }

  @Test("text for Prometheus, with escaped labels")
  func text() {
    var reading = MetricsReading()
    reading.add(.sessions, 3)
    reading.add(.stores, by: [("a\"b\\c\nd", 1), ("plain", 2), ("plain", 3)])
    reading.add(
      .turns,
      [
        .init(
          labels: ["0"],
          value: .histogram(.init(bounds: [.seconds(1)], counts: [2, 1], sum: .milliseconds(2500))))
      ])
    #expect(
      reading.prometheusText == #"""
        # HELP statewire_sessions Sessions with a handle that are in memory.
        # TYPE statewire_sessions gauge
        statewire_sessions 3
        # HELP statewire_stores Open stores that are in memory.
        # TYPE statewire_stores gauge
        statewire_stores{kind="a\"b\\c\nd"} 1
        statewire_stores{kind="plain"} 5
        # HELP statewire_turn_duration_seconds Durations of the turns of event loops, with the writes to clients.
        # TYPE statewire_turn_duration_seconds histogram
        statewire_turn_duration_seconds_bucket{shard="0",le="1.0"} 2
        statewire_turn_duration_seconds_bucket{shard="0",le="+Inf"} 3
        statewire_turn_duration_seconds_sum{shard="0"} 2.5
        statewire_turn_duration_seconds_count{shard="0"} 3

        """#)
  }

  @Test("each metric has a different name")
  func names() {
    #expect(Set(MetricDescription.all.map(\.name)).count == MetricDescription.all.count)
  }

  private static func request(_ id: Int, _ method: String, _ params: String) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  /// The numbers of a reading.
  private struct Values {
    private var numbers: [[String]: Double] = [:]

    init(_ reading: MetricsReading) {
      for family in reading.families {
        for sample in family.samples {
          guard case .number(let number) = sample.value else { continue }
          numbers[[family.description.name] + sample.labels] = number
        }
      }
    }

    subscript(name: String, labels: String...) -> Double? { numbers[[name] + labels] }
  }
}

/// Counts additions; `wait` starts an effect that ends only with its store.
private struct MetricsTally: StateMachine {
  enum Input: String, Codable, Sendable { case add, wait }
  struct State: Codable, Sendable { var count = 0 }

  let initialState = State()
  /// Called at each addition, on the thread of the shard.
  var pass: @Sendable () -> Void = {}
  private let events = AsyncStream.makeStream(of: Void.self)

  init(pass: @escaping @Sendable () -> Void = {}) { self.pass = pass }

  func effect(of input: Input, in state: State) -> Effect<Int> {
    switch input {
    case .add:
      pass()
      return .action(1)
    case .wait: return .run("wait") { [events] _ in for await _ in events.stream {} }
    }
  }

  func reduce(_ state: inout State, _ action: Int) { state.count += action }
}
