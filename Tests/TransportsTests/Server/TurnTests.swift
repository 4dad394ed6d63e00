// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import ServerCore
import Testing
import TransportTestSupport
import Transports

@Suite("Turns", .timeLimit(.minutes(15)))
struct TurnTests {
  /// A connection that ended in the middle of a turn notified the shard within that turn. This
  /// nested turn sent and journaled a part of the outer turn's results. Now it is a trap if
  /// assertions are checked.
  @Test("the end of a connection that a turn causes is a separate turn")
  func nesting() async throws {
    let server = try await Server.start(
      kinds: [StoreKind("switch") { Switch() }], settings: .patient,
      listeners: [.tcp(host: "127.0.0.1", port: 0)],
      testing: OutsideWork())
    let client = try await ClientConnection.connect(to: server.addresses[0])
    let other = try await ClientConnection.connect(to: server.addresses[0])
    #expect(try await other.pings())
    let inject =
      #"{"jsonrpc":"2.0","method":"test/injectFault","params":{"store":"switch","operation":"turn","#
      + #""fault":{"type":"dropConnection"}}}"#
    let turn =
      #"{"jsonrpc":"2.0","method":"store/send","params":{"store":"switch","input":{"type":"turned"}}}"#
    try await client.send(raw: Array([inject, turn, ping, turn, ""].joined(separator: "\n").utf8))
    // Requests in a second chunk may get their responses before the end.
    while try await client.receive() != nil {}
    #expect(try await other.pings())
    await client.close()
    await other.close()
    await server.stop()
  }

  @Test("a connection that is dropped first sends the responses to all earlier requests")
  func responsesBefore() async throws {
    let server = try await Server.start(
      kinds: [StoreKind("switch") { Switch() }], settings: .patient,
      listeners: [.tcp(host: "127.0.0.1", port: 0)], testing: OutsideWork())
    // The client is not alone, so its writes are coalesced.
    let other = try await ClientConnection.connect(to: server.addresses[0])
    #expect(try await other.pings())
    let client = try await ClientConnection.connect(to: server.addresses[0])
    let inject =
      #"{"jsonrpc":"2.0","id":1,"method":"test/injectFault","params":{"store":"switch","#
      + #""operation":"turn","fault":{"type":"dropConnection"}}}"#
    let turn =
      #"{"jsonrpc":"2.0","id":2,"method":"store/send","params":{"store":"switch","#
      + #""input":{"type":"turned"}}}"#
    try await client.send(raw: Array([inject, turn, ""].joined(separator: "\n").utf8))
    #expect(try await client.receiveText()?.contains("\"id\":1") == true)
    #expect(try await client.receive() == nil)
    await client.close()
    await other.close()
    await server.stop()
  }

  @Test("responses of many connections are complete and in order, small and large ones")
  func coalescedWrites() async throws {
    let server = try await Server.start(
      kinds: [StoreKind("switch") { Switch() }], settings: .patient,
      listeners: [.tcp(host: "127.0.0.1", port: 0)])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask {
          let client = try await ClientConnection.connect(to: server.addresses[0])
          let id = "\(number) " + String(repeating: "x", count: 900)
          let request = "{\"jsonrpc\":\"2.0\",\"id\":\"\(id)\",\"method\":\"ping\"}\n"
          let response = "{\"jsonrpc\":\"2.0\",\"id\":\"\(id)\",\"result\":{}}"
          for count in [1, 3, 8, 20, 60, 1] {
            try await client.send(raw: Array(String(repeating: request, count: count).utf8))
            for _ in 0..<count { #expect(try await client.receiveText() == response) }
          }
          // The end of input immediately follows the request.
          try await client.send(raw: Array("\(ping)\n".utf8))
          try await client.closeInput()
          #expect(try await client.receiveText() == pong)
          #expect(try await client.receive() == nil)
          await client.close()
        }
      }
      try await group.waitForAll()
    }
    await server.stop()
  }
}

/// A switch.
private struct Switch: StateMachine {
  enum Input: Codable, Sendable { case turned }
  struct State: Codable, Sendable { var isOn = false }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Bool> {
    .action(!state.isOn).operation("turn", failing: false)
  }

  func reduce(_ state: inout State, _ action: Bool) { state.isOn = action }
}
