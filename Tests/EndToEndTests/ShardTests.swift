// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import StatewireJSON
import TestSupport
import Testing

@Suite("Several shards", .timeLimit(.minutes(15)))
struct ShardTests {
  /// Runs `body` while the program serves a socket in `folder`, then ends it with a signal.
  private func serve(
    _ folder: TestFolder, shards: Int, ending signal: CInt,
    _ body: (_ connect: () async throws -> Client) async throws -> Void
  ) async throws {
    let socket = folder.file("socket-\(shards)")
    let process = Process()
    process.executableURL = URL(filePath: Program.path)
    process.arguments = [
      "serve", "--unix", socket, "--data-dir", folder.file("data"), "--shards", "\(shards)",
      // The tests that run at the same time may keep a client from its first request, and a session
      // without a client for minutes.
      "--time-to-first-request", "0", "--session-time", "86400",
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer {
      kill(process.processIdentifier, signal)
      process.waitUntilExit()
    }
    await eventually("the server listens") {
      let probe = try? await ClientConnection.connect(to: .unix(path: socket), framing: .lines)
      await probe?.close()
      return probe != nil
    }
    try await body {
      Client(
        connection: try await ClientConnection.connect(to: .unix(path: socket), framing: .lines))
    }
  }

  private final class Client {
    let connection: ClientConnection
    private var last = 0

    init(connection: ClientConnection) { self.connection = connection }

    /// Returns the response to a request.
    func call(_ method: String, _ params: String) async throws -> String {
      last += 1
      try await connection.send(
        Array(
          #"{"jsonrpc":"2.0","id":\#(last),"method":"\#(method)","params":\#(params)}"#.utf8))
      while true {
        let text = String(decoding: try #require(try await connection.receive()), as: UTF8.self)
        if text.contains("\"id\":\(last),") { return text }
      }
    }

    func add(_ title: String, _ sequence: Int) async throws -> String {
      try await call(
        "store/send",
        #"{"store":"todo","input":{"type":"todoAdded","title":"\#(title)"},"settle":true,"#
          + #""sequence":\#(sequence)}"#)
    }

    /// Waits for a message that contains a text.
    func receive(containing part: String) async throws -> String {
      while true {
        let text = String(decoding: try #require(try await connection.receive()), as: UTF8.self)
        if text.contains(part) { return text }
      }
    }
  }

  private func handle(in response: String) throws -> String {
    try #require(try JSONValue(parsing: response)["result"]?["session"]?.string)
  }

  @Test("sessions survive the death of the process, whatever the number of shards of the next one")
  func restart() async throws {
    let folder = try TestFolder()
    var sessions: [String] = []
    try await serve(folder, shards: 3, ending: SIGKILL) { connect in
      for number in 0..<9 {
        let client = try await connect()
        let opened = try await client.call("session/open", #"{"frontend":"page"}"#)
        sessions.append(try handle(in: opened))
        _ = try await client.call(
          "store/open", #"{"store":"todo","kind":"todo","config":{"memory":{"count":0}}}"#)
        _ = try await client.call(
          "store/send", #"{"store":"todo","input":{"type":"stateRequested"},"settle":true}"#)
        #expect(try await client.add("first \(number)", 1).contains("\"revision\""))
        await client.connection.close()
      }
    }
    for (round, shards) in [2, 1, 4].enumerated() {
      try await serve(folder, shards: shards, ending: round == 1 ? SIGTERM : SIGKILL) { connect in
        for (number, session) in sessions.enumerated() {
          let client = try await connect()
          let attached = try await client.call(
            "session/attach",
            #"{"session":"\#(session)","frontend":"page","revisions":{"todo":null}}"#)
          #expect(attached.contains("first \(number)"), "\(attached)")
          #expect(attached.contains("\"sequence\":\(round + 1)"))
          // The last input is sent again, and not applied again.
          _ = try await client.add("again", round + 1)
          _ = try await client.add("round \(round)", round + 2)
          let state = try await client.call("store/state", #"{"store":"todo"}"#)
          #expect(!state.contains("again") && state.contains("round \(round)"))
          await client.connection.close()
        }
      }
    }
  }

  @Test("stores of all shards follow the list of the database")
  func sharedList() async throws {
    let folder = try TestFolder()
    try await serve(folder, shards: 2, ending: SIGTERM) { connect in
      var clients: [Client] = []
      for _ in 0..<4 {
        let client = try await connect()
        _ = try await client.call("store/subscribe", #"{"store":"todo"}"#)
        _ = try await client.call(
          "store/send",
          #"{"store":"todo","input":{"type":"stateRequested"},"settle":true}"#)
        clients.append(client)
      }
      for (number, client) in clients.enumerated() {
        _ = try await client.call(
          "store/send",
          #"{"store":"todo","input":{"type":"todoAdded","title":"todo \#(number)"},"settle":true}"#)
        for other in clients where other !== client {
          _ = try await other.receive(containing: "todo \(number)")
        }
      }
      for client in clients { await client.connection.close() }
    }
  }

  @Test("--shards is refused where one shard serves", arguments: [["--test"], []])
  func refused(options: [String]) throws {
    let result = try Program.run(["serve", "--shards", "2"] + options)
    #expect(result.status != 0 && result.errors.contains("--shards"), "\(result)")
  }
}
