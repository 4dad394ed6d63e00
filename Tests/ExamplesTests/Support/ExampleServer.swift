// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import StatewireJSON
import TestSupport
import Testing
import Transports

/// The program of an example, as its user starts it.
final class ExampleServer {
  let address: ServerAddress
  private let process = Process()
  private let errors = Pipe()

  convenience init(_ program: String, _ options: String...) throws {
    try self.init(program, options: options)
  }

  init(_ program: String, options: [String]) throws {
    process.executableURL = URL(filePath: TestedPackage.program(program))
    // All tests run at the same time, so a client may get the processor late.
    process.arguments =
      [
        "serve", "--tcp", "127.0.0.1:0", "--time-to-first-request", "1000", "--unread-time", "0",
      ] + options
    process.standardInput = FileHandle.nullDevice
    process.standardError = errors
    try process.run()
    let line = try errors.fileHandleForReading.read(untilLineWith: "listening on ").line
    address = try #require(line.split(separator: " ").last.flatMap { ServerAddress(String($0)) })
  }

  deinit { process.terminate() }

  /// Ends the program as `kill -9` does.
  func kill() {
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Connects, and attaches with a name if there is one.
  func client(named name: String? = nil, token: String? = nil) async throws -> ExampleClient {
    let client = ExampleClient(
      of: self, try await ClientConnection.connect(to: address, framing: .lines))
    if let token { try await client.call("initialize", #"{"token":"\#(token)"}"#) }
    if let name { try await client.call("session/open", #"{"frontend":"\#(name)"}"#) }
    return client
  }
}

/// A client that applies the updates of one store.
///
/// One task uses it at a time.
// because each test passes a client to one task, and awaits that task before it uses the client.
final class ExampleClient: @unchecked Sendable {
  /// The state of the store that it subscribed to.
  private(set) var state = JSONValue.null
  /// The patches since the last call of `takePatches`.
  private var patches: [JSONValue] = []
  private(set) var events: [JSONValue] = []
  private let connection: ClientConnection
  /// The server, which ends when it has no clients.
  private let server: ExampleServer
  private var lastID = 0

  init(of server: ExampleServer, _ connection: ClientConnection) {
    (self.server, self.connection) = (server, connection)
  }

  /// Sends a request and reads until its response.
  ///
  /// - Returns: The result, or the error as `{"error": …}`.
  @discardableResult
  func call(_ method: String, _ params: String) async throws -> JSONValue {
    let id = try await send(method, params)
    return try await response(to: id)
  }

  /// Sends a request.
  func send(_ method: String, _ params: String) async throws -> Int {
    lastID += 1
    let request = #"{"jsonrpc":"2.0","id":\#(lastID),"method":"\#(method)","params":\#(params)}"#
    try await connection.send(Array(request.utf8))
    return lastID
  }

  /// Reads until a response.
  @discardableResult
  func response(to id: Int) async throws -> JSONValue {
    while true {
      let message = try await next()
      guard message["id"] == .number(JSONNumber(Int64(id))) else { continue }
      return message["result"] ?? message
    }
  }

  func subscribe(to store: String) async throws {
    let result = try await call("store/subscribe", #"{"store":"\#(store)"}"#)
    state = try #require(result["state"], "\(result)")
  }

  @discardableResult
  func input(_ input: String, to store: String, settle: Bool = false) async throws -> JSONValue {
    try await call("store/send", #"{"store":"\#(store)","input":\#(input),"settle":\#(settle)}"#)
  }

  /// Reads updates until the state is as expected.
  func reaches(_ path: String, _ value: JSONValue) async throws {
    let pointer = try JSONPointer(parsing: path)
    while state[pointer] != value { _ = try await next() }
  }

  /// Reads one message.
  func awaitUpdate() async throws { _ = try await next() }

  func takePatches() -> [JSONValue] {
    defer { patches = [] }
    return patches
  }

  func close() async { await connection.close() }

  private func next() async throws -> JSONValue {
    let message = try JSONValue(parsing: try #require(try await connection.receive()))
    switch message["method"]?.string {
    case "store/changed":
      let params = try #require(message["params"])
      if let whole = params["state"] { state = whole }
      guard let patch = params["patch"] else { break }
      try JSONPatch(patch).apply(inPlace: &state)
      patches.append(patch)
    case "store/event": events.append(message["params"]?["event"] ?? message)
    default: break
    }
    return message
  }
}
