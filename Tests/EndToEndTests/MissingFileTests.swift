// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import ServerCore
import StatewireJSON
import TestSupport
import Testing
import Transports

@Suite("Missing files of the running program", .timeLimit(.minutes(15)))
struct MissingFileTests {
  @Test("without its database, the program confirms no change, and continues when the file is back")
  func database() async throws {
    let folder = try TestFolder()
    let file = folder.path + "/data/statewire.sqlite"
    let client = try await serve(folder)
    #expect(try await result(client, subscribe)?["state"]?["type"] == "loading")
    try await send(client, #"{"type":"stateRequested"}"#)
    try await send(client, #"{"type":"todoAdded","title":"before"}"#)
    #expect(try await titles(client) == ["before"])

    try FileManager.default.moveItem(atPath: file, toPath: file + "-away")
    for _ in 0..<2 {
      try await send(client, #"{"type":"todoAdded","title":"lost"}"#)
      let state = try await result(client, state)?["state"]
      #expect(
        state?["type"] == "error" && state?["code"] == "repository.failed", "\(state ?? .null)")
    }

    try FileManager.default.moveItem(atPath: file + "-away", toPath: file)
    try await send(client, #"{"type":"stateRequested"}"#)
    try await send(client, #"{"type":"todoAdded","title":"after"}"#)
    #expect(try await titles(client) == ["before", "after"])
    await client.close()
    let log = String(decoding: await client.collectedErrorOutput, as: UTF8.self)
    #expect(log.components(separatedBy: "was deleted, moved or replaced").count == 2, "\(log)")
  }

  @Test("without its journal, the program closes the connection of a session that it cannot write")
  func journal() async throws {
    let folder = try TestFolder()
    let client = try await serve(folder)
    let open = #"{"jsonrpc":"2.0","id":1,"method":"session/open","params":{"frontend":"page"}}"#
    #expect(try await result(client, open)?["session"] != nil)
    try FileManager.default.removeItem(atPath: folder.path + "/data/sessions.sqlite")
    try await client.send(Array(Self.request(#"{"type":"todoAdded","title":"lost"}"#).utf8))
    while let bytes = try await client.receive() {
      #expect(try JSONValue(parsing: bytes)["id"] == nil, "a lost input got a response")
    }
    await client.close()
  }

  private let subscribe =
    #"{"jsonrpc":"2.0","id":1,"method":"store/subscribe","params":{"store":"todo","format":"state"}}"#
  private let state = #"{"jsonrpc":"2.0","id":1,"method":"store/state","params":{"store":"todo"}}"#

  private static func request(_ input: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"store/send","params":{"store":"todo","settle":true,"input":"#
      + input + "}}"
  }

  private func serve(_ folder: TestFolder) async throws -> ClientConnection {
    try await ClientConnection.spawn(
      [Program.path, "serve", "--data-dir", folder.path + "/data"], framing: .lines,
      errorOutput: .collected)
  }

  private func send(_ client: ClientConnection, _ input: String) async throws {
    #expect(try await result(client, Self.request(input)) != nil)
  }

  private func titles(_ client: ClientConnection) async throws -> [String] {
    let todos = try await result(client, state)?["state"]?["todos"]?.array ?? []
    return todos.compactMap { $0["title"]?.string }
  }

  /// Returns the result of a request, and skips earlier notifications.
  private func result(_ client: ClientConnection, _ request: String) async throws -> JSONValue? {
    try await client.send(Array(request.utf8))
    while let bytes = try await client.receive() {
      let message = try JSONValue(parsing: bytes)
      if message["id"] != nil { return message["result"] }
    }
    return nil
  }
}
