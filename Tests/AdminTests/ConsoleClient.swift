// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import ServerCore
import StateMachines
import StatewireJSON
import Testing
import TransportTestSupport
import Transports

@testable import Admin

/// A server with a console, and requests to it.
struct ConsoleClient {
  let admin: ServerAddress
  let server: ServerAddress

  /// Sends a request and returns the whole response.
  func send(_ text: String) throws -> String {
    let socket = try PlainSocket(admin)
    try socket.send(text)
    return String(decoding: try socket.receiveAll(), as: UTF8.self)
  }

  /// Returns the JSON of a response to a GET.
  func get(_ path: String) throws -> JSONValue {
    try body(of: send("GET /console/api/\(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"))
  }

  /// Returns the JSON of a response to a POST.
  func post(_ path: String, _ value: JSONValue) throws -> JSONValue {
    let body = value.description
    return try self.body(
      of: send(
        """
        POST /console/api/\(path) HTTP/1.1\r
        Host: localhost\r
        Origin: http://localhost\r
        Content-Type: application/json\r
        Content-Length: \(body.utf8.count)\r
        \r
        \(body)
        """))
  }

  private func body(of text: String) throws -> JSONValue {
    let start = try #require(text.firstRange(of: "\r\n\r\n"))
    return try JSONValue(parsing: Array(text[start.upperBound...].utf8))
  }

  /// Returns a new client of the server.
  func client() async throws -> ClientConnection { try await ClientConnection.connect(to: server) }
}

extension ClientConnection {
  /// Sends a request, and returns its result; fails if the response is an error.
  @discardableResult
  func responds(_ method: String, _ params: String) async throws -> JSONValue {
    try await send(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
    while true {
      let message = try JSONValue(parsing: try #require(try await receiveText()))
      if message["id"] == 1 { return try #require(message["result"], "\(message)") }
    }
  }

  /// Sends an input to a store of the kind `vault`.
  func writes(note: String, pin: String) async throws {
    let input = #"{"type":"write","note":"\#(note)","pin":"\#(pin)"}"#
    try await responds("store/send", #"{"store":"vault","input":\#(input)}"#)
  }

  /// Opens a session and returns its handle.
  func opens(_ frontend: String) async throws -> String {
    let result = try await responds("session/open", #"{"frontend":"\#(frontend)"}"#)
    return try #require(result["session"]?.string)
  }
}

/// Runs `body` with a server that has a console.
func withConsole(
  shards: Int = 1, isTest: Bool = false, operations: ConsoleOperations = ConsoleOperations(),
  kinds: [StoreKind] = [StoreKind("vault") { Vault() }.concealing("pin")],
  _ body: (ConsoleClient) async throws -> Void
) async throws {
  let status = ServerStatus()
  let admin = try await AdminInterface.start(
    host: "127.0.0.1", port: 0, status, console: ["index.html": Array("<p>".utf8)],
    operations: operations)
  let server = try await Server.start(
    kinds: kinds, settings: .patient,
    listeners: [.tcp(host: "127.0.0.1", port: 0)], shards: shards, status: status,
    testing: isTest ? OutsideWork() : nil)
  do {
    try await body(ConsoleClient(admin: admin.address, server: server.addresses[0]))
  } catch {
    await server.stop()
    await admin.stop()
    throw error
  }
  await server.stop()
  await admin.stop()
}

/// A machine with a note and a secret.
struct Vault: StateMachine {
  enum Input: Codable, Sendable { case write(note: String, pin: String) }
  struct State: Codable, Sendable {
    struct Inner: Codable, Sendable { var pin = "" }
    var note = ""
    var pin = ""
    var inner = [Inner()]
  }
  enum Action: Sendable { case written(note: String, pin: String) }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .write(let note, let pin): .action(.written(note: note, pin: pin))
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .written(let note, let pin): state = State(note: note, pin: pin, inner: [.init(pin: pin)])
    }
  }
}
