// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import ServerCore
import StateMachines
import TestSupport
import Testing
import TransportTestSupport
import Transports

/// A client of a server with two shards.
actor ShardClient {
  let connection: ClientConnection
  private var last = 0
  /// The notifications that have arrived, in order.
  private(set) var notifications: [String] = []

  init(_ server: Server, _ index: Int = 0, trust: ClientTrust = ClientTrust()) async throws {
    connection = try await ClientConnection.connect(to: server.addresses[index], trust: trust)
  }

  /// Connects to the loop of a shard.
  static func connect(
    to server: Server, shard: Int, trust: ClientTrust = ClientTrust()
  ) async throws -> ShardClient {
    // The listener distributes connections over the two loops in turn.
    while true {
      let probe = try await ShardClient(server, trust: trust)
      let isOnOther = try await probe.open("probe").shard(of: 2) != shard
      if isOnOther {
        let client = try await ShardClient(server, trust: trust)
        _ = try await probe.call("session/close")
        await probe.close()
        return client
      }
      _ = try await probe.call("session/close")
      await probe.close()
    }
  }

  /// Sends a request without waiting for its response.
  ///
  /// - Returns: The id.
  @discardableResult
  func send(_ method: String, _ params: String = "{}") async throws -> Int {
    last += 1
    try await connection.send(request(last, method, params))
    return last
  }

  private func request(_ id: Int, _ method: String, _ params: String) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  /// Sends several messages in one write.
  func send(together messages: [(method: String, params: String)]) async throws {
    var bytes: [UInt8] = []
    for (method, params) in messages {
      last += 1
      bytes += Array((request(last, method, params) + "\n").utf8)
    }
    try await connection.send(raw: bytes)
  }

  /// Returns the text of the next message; nil at the end.
  func receive() async throws -> String? { try await connection.receiveText() }

  /// Returns the next response; notifications are kept.
  func response() async throws -> String {
    while true {
      let text = try #require(try await receive())
      if text.contains("\"id\":") { return text }
      notifications.append(text)
    }
  }

  /// Sends a request, and returns its response.
  func call(_ method: String, _ params: String = "{}") async throws -> String {
    let id = try await send(method, params)
    let response = try await response()
    #expect(response.contains("\"id\":\(id),"))
    return response
  }

  /// Gives the session a handle.
  func open(_ frontend: String) async throws -> SessionHandle {
    let response = try await call("session/open", #"{"frontend":"\#(frontend)"}"#)
    let start = try #require(response.range(of: "\"session\":\"")).upperBound
    return try #require(SessionHandle(String(response[start...].prefix(32))))
  }

  func attach(
    _ session: SessionHandle, as frontend: String, revisions: String = "{}"
  ) async throws -> String {
    try await call("session/attach", Self.attaching(session, frontend, revisions))
  }

  static func attaching(
    _ session: SessionHandle, _ frontend: String, _ revisions: String = "{}"
  ) -> String {
    #"{"session":"\#(session)","frontend":"\#(frontend)","revisions":\#(revisions)}"#
  }

  func add(_ amount: Int, sequence: Int? = nil) async throws -> String {
    try await call("store/send", Self.adding(amount, sequence: sequence))
  }

  static func adding(_ amount: Int, sequence: Int? = nil) -> String {
    let number = sequence.map { ",\"sequence\":\($0)" } ?? ""
    return #"{"store":"tally","input":{"type":"added","amount":\#(amount)}\#(number)}"#
  }

  func state() async throws -> String { try await call("store/state", #"{"store":"tally"}"#) }

  func close() async { await connection.close() }

  func takeNotifications() -> [String] {
    defer { notifications = [] }
    return notifications
  }
}

/// A sum, and a text whose length a client chooses.
struct Sum: DurableMachine {
  enum Input: Codable, Sendable {
    case added(amount: Int)
    case filled(letter: String, count: Int)
    /// Settles when the gate opens.
    case waited
    /// Settles after some other work of the process.
    case yielded(times: Int)
  }

  enum Action: Sendable {
    case add(Int)
    case fill(String, Int)
  }

  struct State: Codable, Sendable {
    var sum = 0
    var text = ""
  }

  let initialState = State()
  let gate: Gate

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .added(let amount): .action(.add(amount))
    case .filled(let letter, let count): .action(.fill(letter, count))
    case .waited:
      .run("wait") { [gate] context in
        await gate.wait()
        await context.send(.add(1000))
      }
    case .yielded(let times):
      .run("yield") { context in
        for _ in 0..<times { await Task.yield() }
        await context.send(.add(1000))
      }
    }
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .none
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .add(let amount): state.sum += amount
    case .fill(let letter, let count): state.text = String(repeating: letter, count: count)
    }
  }
}

/// Runs `body` with a server of two shards, and stops the server.
func withShards(
  _ address: ServerAddress = .tcp(host: "127.0.0.1", port: 0), limits: ServerLimits = .init(),
  sessionLimits: SessionLimits = .init(), certificate: ServerCertificate? = nil,
  credentials: Credentials? = nil, gate: Gate = Gate(), shards: Int = 2,
  _ body: (Server) async throws -> Void
) async throws {
  var limits = limits
  // A loaded machine must not end a connection.
  (limits.timeToFirstRequest, limits.unreadTime, limits.frameTime) = (.seconds(900), nil, nil)
  let server = try await Server.start(
    kinds: [StoreKind("tally") { Sum(gate: gate) }],
    settings: ServerSettings(limits: limits, credentials: credentials),
    sessionLimits: sessionLimits, listeners: [address], certificate: certificate, shards: shards)
  do {
    try await body(server)
  } catch {
    gate.open()
    await server.stop()
    throw error
  }
  gate.open()
  await server.stop()
}
