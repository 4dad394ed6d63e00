// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ServerCore

@Suite("shutdown and exit", .timeLimit(.minutes(15)))
struct ShutdownTests {
  private static let exit = notification("exit")

  static let scripts = [
    Script(
      "after shutdown requests are refused and notifications ignored",
      .send(
        subscribe("0"), set("1", 1), request("2", "shutdown"), set("3", 2),
        notification("store/send", #"{"store":"probe","input":{"type":"set","number":3}}"#),
        request("4", "shutdown"), request("5", "ping")),
      .expect(
        response("0", BatchTests.state), changed(0, 1, number: 1, applied: "1"),
        sent("1", revision: 1), response("2", "null"), failure("3", -32600), failure("4", -32600),
        failure("5", -32600))
    ),
    Script(
      "requests before shutdown continue",
      .send(work("1", "a"), request("2", "shutdown")), .expect(response("2", "null")),
      .order("a", .set(1), .end), .expect(sent("1", revision: 1))
    ),
    Script(
      "shutdown refuses positional parameters", .send(request("1", "shutdown", "[1]")),
      .expect(refusal("1", path: "")), .send(request("2", "ping")), .expect(response("2"))
    ),
    Script(
      "exit ends the connection after the responses to open requests, and later messages are ignored",
      .send(work("1", "a"), request("2", "shutdown"), exit, request("3", "ping"), "no JSON"),
      .expect(response("2", "null")), .order("a", .set(1), .end),
      .expect(sent("1", revision: 1)), .closed
    ),
    Script("exit without shutdown has the same effect", .send(exit), .expectNothing, .closed),
    Script(
      "exit may be a request", .send(request("1", "exit")), .expect(response("1", "null")), .closed),
  ]

  @Test("shutdown and exit end a connection as in the Language Server Protocol", arguments: scripts)
  func script(_ script: Script) async throws { try await script.run() }

  @Test(
    "after exit, open requests get a limited time, and the server knows whether shutdown came",
    arguments: [true, false])
  func exits(afterShutdown: Bool) async throws {
    let client = TestClient()
    client.send(work("1", "a"))
    if afterShutdown { client.send(request("2", "shutdown")) }
    #expect(!client.expires)
    client.send(Self.exit)
    #expect(client.expires)
    #expect(!client.isClosed)
    #expect(client.connection?.hasExited == true)
    #expect(client.connection?.hasExitedEarly == !afterShutdown)
    client.tell(.timeIsUp)
    let responses = try await client.messages(afterShutdown ? 2 : 1)
    #expect(responses.last?.contains("-32800") == true)
    #expect(client.isClosed)
  }

  /// On the request template's path, the server did not check for a shutdown.
  @Test("an input that matches a request template is refused after shutdown, too")
  func alike() async throws {
    let client = TestClient()
    for id in 1...3 { client.send(set("\(id)", id)) }
    client.send(request("4", "shutdown"), set("5", 5))
    let last = try await client.messages(5).last
    #expect(last?.contains("-32600") == true)
  }

  @Test("exit requires no token, and shutdown requires one")
  func tokens() async throws {
    let table = try TokenTable(parsing: Array("a 0123456789abcdef".utf8))
    let client = TestClient(credentials: Credentials(table))
    client.send(request("1", "shutdown"), Self.exit)
    #expect(try await client.messages(1).count == 1)
    #expect(client.isClosed)
    #expect(client.connection?.hasExitedEarly == true)
  }
}
