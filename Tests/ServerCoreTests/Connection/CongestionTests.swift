// SPDX-License-Identifier: Apache-2.0

import StatewireProtocol
import Testing

@testable import Delivery
@testable import ServerCore

/// A client that sends requests and does not read.
@Suite("Back-pressure", .timeLimit(.minutes(15)))
struct CongestionTests {
  /// Returns a client that stops reading at its next write.
  private func congested(_ framing: Framing = .lines) -> TestClient {
    let client = TestClient(World(), framing)
    client.writing = { client.isCongested = true }
    client.send(request("\"first\"", "ping"))
    client.writing = nil
    #expect(!client.wantsBytes)
    return client
  }

  @Test("the server handles no message while the client does not read, then all in order")
  func order() async throws {
    for framing in Framing.allCases {
      let client = congested(framing)
      try await client.expect(response("\"first\""))
      client.send(subscribe("1"), set("2", 1), "[\(set("3", 2)),\(request("4", "ping"))]", "{")
      client.expectNothing()
      #expect(!client.wantsBytes)
      client.catchUp()
      try await client.expect(
        response("1", BatchTests.state), changed(0, 1, number: 1, applied: "2"),
        sent("2", revision: 1), changed(1, 2, number: 2, applied: "3"),
        "[\(sent("3", revision: 2)),\(response("4"))]", failure("null", -32700))
      #expect(client.wantsBytes)
    }
  }

  /// With the first client blocked, the server waited until its work was idle, could not continue,
  /// and waited again. It did nothing else from then on.
  @Test("a server under test serves other clients while one client does not read")
  func underTest() async throws {
    let world = World(underTest: .init())
    let client = TestClient(world)
    client.writing = { client.isCongested = true }
    client.send(request("1", "ping"))
    client.writing = nil
    client.send(subscribe("2"), set("3", 1))
    try await client.expect(response("1"))
    let other = TestClient(world)
    other.send(subscribe("1"), set("2", 5), request("3", "test/advanceClock", #"{"by":1}"#))
    world.loop.runAll()
    try await other.expect(
      response("1", BatchTests.state), changed(0, 1, number: 5, applied: "2"),
      sent("2", revision: 1), response("3"))
    client.expectNothing()
    client.catchUp()
    try await client.expect(
      response("2", BatchTests.state), changed(0, 1, number: 1, applied: "3"),
      sent("3", revision: 1))
  }

  @Test("errors of invalid frames keep their places among the responses")
  func faults() async throws {
    let client = TestClient(World(), .headers, limits: LifecycleTests.limits { $0.frameBytes = 64 })
    client.writing = { client.isCongested = true }
    client.send(request("0", "ping"))
    client.writing = nil
    client.send(request("1", "ping"), String(repeating: " ", count: 100), request("2", "ping"))
    client.send(bytes: Array("x\r\n".utf8))
    try await client.expect(response("0"))
    #expect(!client.isClosed)
    client.catchUp()
    try await client.expect(
      response("1"), failure("null", -32015, data: #"{"limit":"frameBytes"}"#), response("2"),
      failure("null", -32700))
    #expect(client.isClosed)
  }

  @Test("the server stops again when the client stops reading again")
  func stopsAgain() async throws {
    let client = congested()
    try await client.expect(response("\"first\""))
    let text = String(repeating: "x", count: 300_000)
    client.send(send("1", #"{"type":"say","text":"\#(text)"}"#), subscribe("2"))
    client.send(request("3", "ping"), subscribe("4"), request("5", "ping"))
    client.expectNothing()
    for ids in [["1", "2"], ["3", "4"], ["5"]] {
      client.writing = { client.isCongested = true }
      client.catchUp()
      client.writing = nil
      #expect(try await client.messages(ids.count).map(Self.id) == ids)
      #expect(!client.wantsBytes)
      client.expectNothing()
    }
    client.catchUp()
    #expect(client.wantsBytes)
    client.expectNothing()
  }

  /// Returns the id of a message that may be too long to be parsed.
  private static func id(_ message: String) -> String {
    String(message.dropFirst(#"{"jsonrpc":"2.0","id":"#.utf8.count).prefix { $0 != "," })
  }

  @Test("messages of a chunk wait when the client stops reading in the middle of the chunk")
  func middle() async throws {
    let client = TestClient()
    let text = String(repeating: "x", count: 300_000)
    client.writing = { client.isCongested = true }
    client.send(
      send("1", #"{"type":"say","text":"\#(text)"}"#), request("2", "ping"), subscribe("3"),
      request("4", "ping"), request("5", "ping"))
    client.writing = nil
    #expect(try await client.messages(3).map(Self.id) == ["1", "2", "3"])
    client.expectNothing()
    client.catchUp()
    try await client.expect(response("4"), response("5"))
  }

  @Test("a response with a large state is encoded off the loop, and keeps its place")
  func offloaded() async throws {
    for framing in Framing.allCases {
      let client = TestClient(World(), framing)
      let text = String(repeating: "x", count: 600_000)
      client.send(
        send("1", #"{"type":"say","text":"\#(text)"}"#), subscribe("2"), set("3", 1),
        request("4", "ping"))
      // The loop has not turned since, so the encoded response has not come back yet.
      #expect(client.takeMessages().map(Self.id) == ["1"])
      #expect(!client.wantsBytes)
      try await client.world.loop.turn()
      let messages = try await client.messages(4)
      #expect(messages.map(Self.id)[0] == "2" && messages[0].utf8.count > 600_000)
      #expect(messages[1].contains("store/changed"))
      #expect(messages[2...].map(Self.id) == ["3", "4"])
      #expect(client.wantsBytes)
    }
  }

  @Test("a WebSocket message is one write, however large it is, because pongs are sent separately")
  func wholeFrames() async throws {
    let client = TestClient(isWebSocket: true)
    let text = String(repeating: "x", count: 600_000)
    for message in [
      send("1", #"{"type":"say","text":"\#(text)"}"#), subscribe("2"),
    ] {
      Array(message.utf8).withUnsafeBytes { client.tell(.framed(.message($0))) }
    }
    try await client.world.loop.turn()
    #expect(client.writes.count == 2 && client.writes[1].count > 600_000)
  }

  @Test("a response that was encoded off the loop is dropped if the client has disconnected")
  func offloadedForDisconnected() async throws {
    let client = TestClient()
    let text = String(repeating: "x", count: 600_000)
    client.send(
      send("1", #"{"type":"say","text":"\#(text)"}"#),
      request("2", "store/state", #"{"store":"probe"}"#))
    #expect(client.takeMessages().count == 1)
    client.tell(.disconnected)
    try await client.world.loop.turn()
    client.expectNothing()
  }

  @Test("updates and late responses are sent when the client reads again")
  func frames() async throws {
    let client = TestClient()
    client.send(subscribe("0"))
    client.writing = { client.isCongested = true }
    client.send(work("1", "a"), request("2", "ping"))
    client.writing = nil
    try await client.expect(response("0", BatchTests.state), response("2"))
    client.send(set("3", 5))
    client.world.orders.tell("a", .set(1), .end)
    try await client.world.loop.turns(2)
    client.expectNothing()
    client.catchUp()
    try await client.expect(
      changed(0, 1, number: 1, applied: "1"), sent("1", revision: 1),
      changed(1, 2, number: 5, applied: "3"), sent("3", revision: 2))
  }

  @Test("all pending changes of a store become one update, at the place of the first change")
  func merged() async throws {
    for framing in Framing.allCases {
      let client = TestClient(World(), framing)
      client.send(subscribe("0"))
      client.writing = { client.isCongested = true }
      client.send(work("1", "a"), work("2", "b"), request("3", "ping"))
      client.writing = nil
      try await client.expect(response("0", BatchTests.state), response("3"))
      client.world.orders.tell("a", .set(1), .end)
      try await client.world.loop.turns(2)
      client.world.orders.tell("b", .set(2), .set(3), .end)
      try await client.world.loop.turns(3)
      client.expectNothing()
      client.catchUp()
      let messages = try await client.messages(3)
      #expect(messages[0].contains(#""base":0,"revision":3,"patch":[{"#))
      try #expect(Message(messages[1]) == Message(expected: sent("1", revision: 1)))
      try #expect(Message(messages[2]) == Message(expected: sent("2", revision: 3)))
    }
  }

  @Test("a response with a state is not older than the update before it")
  func settledBatch() async throws {
    let client = TestClient()
    client.send(subscribe("0"), subscribe("1", "loose"), work("2", "a"))
    _ = try await client.messages(2)
    client.isCongested = true
    // During the first update, in the middle of the batch, the server notices that the client has
    // stopped.
    let text = String(repeating: "x", count: 300_000)
    let put = send("3", #"{"type":"put","number":1,"text":"\#(text)"}"#, to: "loose")
    client.send("[\(put),\(set("4", 5)),\(subscribe("5"))]")
    client.world.orders.tell("a", .set(7), .end)
    try await client.world.loop.turns(2)
    #expect(try await client.messages(1).first?.contains(text) == true)
    client.expectNothing()
    client.catchUp()
    try await client.expect(
      changed(0, 1, number: 5, applied: "4"),
      "[\(sent("3", revision: 1)),\(sent("4", revision: 1)),"
        + response("5", #"{"revision":1,"state":{"number":5,"text":""}}"#) + "]",
      changed(1, 2, number: 7, applied: "4"), sent("2", revision: 2))
  }

  @Test("while messages are queued, new messages do not overtake them when the client reads again")
  func notNotifiedYet() async throws {
    let client = TestClient()
    client.writing = { client.isCongested = true }
    client.send(work("1", "a"), request("2", "ping"))
    client.writing = nil
    client.send(request("3", "ping"))
    // At the next write the client reads again, but the connection has not been notified yet.
    client.isCongested = false
    client.world.orders.tell("a", .end)
    try await client.world.loop.turns(1)
    try await client.expect(response("2"))
    client.send(request("4", "ping"))
    client.expectNothing()
    #expect(!client.wantsBytes)
    client.catchUp()
    try await client.expect(sent("1", revision: 0, changed: false), response("3"), response("4"))
  }

  @Test("the server responds to all queued messages after the end of input, then closes")
  func endOfInput() async throws {
    // Once, the response to the open request closed the connection while messages were queued.
    let client = TestClient()
    client.writing = { client.isCongested = true }
    client.send(work("1", "a"), request("2", "ping"))
    client.writing = nil
    client.send(request("3", "$/cancelRequest", #"{"id":1}"#), request("4", "ping"))
    client.send(bytes: Array(request("5", "ping").utf8))
    client.tell(.inputEnded)
    try await client.expect(response("2"))
    #expect(!client.isClosed)
    client.catchUp()
    try await client.expect(failure("1", -32800), response("3"), response("4"), response("5"))
    #expect(client.isClosed)
  }

  @Test("the server handles queued messages also after the time is up, and then cancels their work")
  func timeIsUp() async throws {
    let client = congested()
    client.send(request("1", "ping"), work("2", "a"), request("3", "ping"))
    client.tell(.inputEnded)
    client.tell(.timeIsUp)
    try await client.expect(response("\"first\""))
    #expect(!client.isClosed)
    client.catchUp()
    try await client.expect(response("1"), response("3"), failure("2", -32800))
    #expect(client.isClosed)
  }

  @Test("the server drops queued messages when the client disconnects")
  func disconnected() async throws {
    let client = congested()
    try await client.expect(response("\"first\""))
    client.send(request("1", "ping"))
    client.tell(.disconnected)
    client.catchUp()
    client.expectNothing()
  }

  // Once, the client added itself to the deliveries during a delivery, and delivered nothing from
  // then on.
  @Test("bytes of a turn before the client blocks are sent, and later bytes of the turn wait")
  func congestedInTurn() throws {
    let client = TestClient()
    // because the test is the loop: nothing else runs on the shard.
    nonisolated(unsafe) let connection = try #require(client.connection)
    client.world.shard.assumeIsolated { shard in
      shard.turn {
        connection.writer.fail(RPCError(.invalidRequest, "first"))
        connection.writer.flush()
        connection.writer.isCongested = true
        connection.writer.fail(RPCError(.invalidRequest, "second"))
      }
    }
    #expect(client.takeMessages().map { $0.contains("first") } == [true])
    client.continueWork()
    #expect(client.takeMessages().map { $0.contains("second") } == [true])
    client.send(request("1", "ping"))
    #expect(client.takeMessages().count == 1)
  }
}
