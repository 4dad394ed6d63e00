// SPDX-License-Identifier: Apache-2.0

import StatewireProtocol
import Testing

@testable import Delivery
@testable import ServerCore

/// A client that sends requests and does not read.
@Suite("Back-pressure", .timeLimit(.minutes(15)))
struct CongestionTests {
  /// Returns a client that stops reading at its next write.
  private func congested(_ framing: Framing = .lines) -> Peer {
    let peer = Peer(World(), framing)
    peer.writing = { peer.isCongested = true }
    peer.send(request("\"first\"", "ping"))
    peer.writing = nil
    #expect(!peer.wantsBytes)
    return peer
  }

  @Test("the server handles no message while the client does not read, then all in order")
  func order() async throws {
    for framing in Framing.allCases {
      let peer = congested(framing)
      try await peer.expect(answer("\"first\""))
      peer.send(subscribe("1"), set("2", 1), "[\(set("3", 2)),\(request("4", "ping"))]", "{")
      peer.expectNothing()
      #expect(!peer.wantsBytes)
      peer.catchUp()
      try await peer.expect(
        answer("1", BatchTests.state), changed(0, 1, number: 1, applied: "2"),
        sent("2", revision: 1), changed(1, 2, number: 2, applied: "3"),
        "[\(sent("3", revision: 2)),\(answer("4"))]", failure("null", -32700))
      #expect(peer.wantsBytes)
    }
  }

  /// With the first client blocked, the server waited until its work was idle, could not continue,
  /// and waited again. It did nothing else from then on.
  @Test("a server under test serves other clients while one client does not read")
  func underTest() async throws {
    let world = World(underTest: .init())
    let peer = Peer(world)
    peer.writing = { peer.isCongested = true }
    peer.send(request("1", "ping"))
    peer.writing = nil
    peer.send(subscribe("2"), set("3", 1))
    try await peer.expect(answer("1"))
    let other = Peer(world)
    other.send(subscribe("1"), set("2", 5), request("3", "test/advanceClock", #"{"by":1}"#))
    world.loop.runAll()
    try await other.expect(
      answer("1", BatchTests.state), changed(0, 1, number: 5, applied: "2"),
      sent("2", revision: 1), answer("3"))
    peer.expectNothing()
    peer.catchUp()
    try await peer.expect(
      answer("2", BatchTests.state), changed(0, 1, number: 1, applied: "3"),
      sent("3", revision: 1))
  }

  @Test("errors of invalid frames keep their places among the responses")
  func faults() async throws {
    let peer = Peer(World(), .headers, limits: LifecycleTests.limits { $0.frameBytes = 64 })
    peer.writing = { peer.isCongested = true }
    peer.send(request("0", "ping"))
    peer.writing = nil
    peer.send(request("1", "ping"), String(repeating: " ", count: 100), request("2", "ping"))
    peer.send(bytes: Array("x\r\n".utf8))
    try await peer.expect(answer("0"))
    #expect(!peer.isClosed)
    peer.catchUp()
    try await peer.expect(
      answer("1"), failure("null", -32015, data: #"{"limit":"frameBytes"}"#), answer("2"),
      failure("null", -32700))
    #expect(peer.isClosed)
  }

  @Test("the server stops again when the client stops reading again")
  func stopsAgain() async throws {
    let peer = congested()
    try await peer.expect(answer("\"first\""))
    let text = String(repeating: "x", count: 300_000)
    peer.send(send("1", #"{"type":"say","text":"\#(text)"}"#), subscribe("2"))
    peer.send(request("3", "ping"), subscribe("4"), request("5", "ping"))
    peer.expectNothing()
    for ids in [["1", "2"], ["3", "4"], ["5"]] {
      peer.writing = { peer.isCongested = true }
      peer.catchUp()
      peer.writing = nil
      #expect(try await peer.messages(ids.count).map(Self.id) == ids)
      #expect(!peer.wantsBytes)
      peer.expectNothing()
    }
    peer.catchUp()
    #expect(peer.wantsBytes)
    peer.expectNothing()
  }

  /// Returns the id of a message that may be too long to be parsed.
  private static func id(_ message: String) -> String {
    String(message.dropFirst(#"{"jsonrpc":"2.0","id":"#.utf8.count).prefix { $0 != "," })
  }

  @Test("messages of a chunk wait when the client stops reading in the middle of the chunk")
  func middle() async throws {
    let peer = Peer()
    let text = String(repeating: "x", count: 300_000)
    peer.writing = { peer.isCongested = true }
    peer.send(
      send("1", #"{"type":"say","text":"\#(text)"}"#), request("2", "ping"), subscribe("3"),
      request("4", "ping"), request("5", "ping"))
    peer.writing = nil
    #expect(try await peer.messages(3).map(Self.id) == ["1", "2", "3"])
    peer.expectNothing()
    peer.catchUp()
    try await peer.expect(answer("4"), answer("5"))
  }

  @Test("a response with a large state is encoded off the loop, and keeps its place")
  func offloaded() async throws {
    for framing in Framing.allCases {
      let peer = Peer(World(), framing)
      let text = String(repeating: "x", count: 600_000)
      peer.send(
        send("1", #"{"type":"say","text":"\#(text)"}"#), subscribe("2"), set("3", 1),
        request("4", "ping"))
      // The loop has not turned since, so the encoded response has not come back yet.
      #expect(peer.takeMessages().map(Self.id) == ["1"])
      #expect(!peer.wantsBytes)
      try await peer.world.loop.turn()
      let messages = try await peer.messages(4)
      #expect(messages.map(Self.id)[0] == "2" && messages[0].utf8.count > 600_000)
      #expect(messages[1].contains("store/changed"))
      #expect(messages[2...].map(Self.id) == ["3", "4"])
      #expect(peer.wantsBytes)
    }
  }

  @Test("a WebSocket message is one write, however large it is, because pongs are sent separately")
  func wholeFrames() async throws {
    let peer = Peer(isWebSocket: true)
    let text = String(repeating: "x", count: 600_000)
    for message in [
      send("1", #"{"type":"say","text":"\#(text)"}"#), subscribe("2"),
    ] {
      Array(message.utf8).withUnsafeBytes { peer.tell(.framed(.message($0))) }
    }
    try await peer.world.loop.turn()
    #expect(peer.writes.count == 2 && peer.writes[1].count > 600_000)
  }

  @Test("a response that was encoded off the loop is dropped if the client has disconnected")
  func offloadedForDisconnected() async throws {
    let peer = Peer()
    let text = String(repeating: "x", count: 600_000)
    peer.send(
      send("1", #"{"type":"say","text":"\#(text)"}"#),
      request("2", "store/state", #"{"store":"probe"}"#))
    #expect(peer.takeMessages().count == 1)
    peer.tell(.disconnected)
    try await peer.world.loop.turn()
    peer.expectNothing()
  }

  @Test("updates and late responses are sent when the client reads again")
  func frames() async throws {
    let peer = Peer()
    peer.send(subscribe("0"))
    peer.writing = { peer.isCongested = true }
    peer.send(work("1", "a"), request("2", "ping"))
    peer.writing = nil
    try await peer.expect(answer("0", BatchTests.state), answer("2"))
    peer.send(set("3", 5))
    peer.world.orders.tell("a", .set(1), .end)
    try await peer.world.loop.turns(2)
    peer.expectNothing()
    peer.catchUp()
    try await peer.expect(
      changed(0, 1, number: 1, applied: "1"), sent("1", revision: 1),
      changed(1, 2, number: 5, applied: "3"), sent("3", revision: 2))
  }

  @Test("all pending changes of a store become one update, at the place of the first change")
  func merged() async throws {
    for framing in Framing.allCases {
      let peer = Peer(World(), framing)
      peer.send(subscribe("0"))
      peer.writing = { peer.isCongested = true }
      peer.send(work("1", "a"), work("2", "b"), request("3", "ping"))
      peer.writing = nil
      try await peer.expect(answer("0", BatchTests.state), answer("3"))
      peer.world.orders.tell("a", .set(1), .end)
      try await peer.world.loop.turns(2)
      peer.world.orders.tell("b", .set(2), .set(3), .end)
      try await peer.world.loop.turns(3)
      peer.expectNothing()
      peer.catchUp()
      let messages = try await peer.messages(3)
      #expect(messages[0].contains(#""base":0,"revision":3,"patch":[{"#))
      try #expect(Message(messages[1]) == Message(expected: sent("1", revision: 1)))
      try #expect(Message(messages[2]) == Message(expected: sent("2", revision: 3)))
    }
  }

  @Test("a response with a state is not older than the update before it")
  func settledBatch() async throws {
    let peer = Peer()
    peer.send(subscribe("0"), subscribe("1", "loose"), work("2", "a"))
    _ = try await peer.messages(2)
    peer.isCongested = true
    // During the first update, in the middle of the batch, the server notices that the client has
    // stopped.
    let text = String(repeating: "x", count: 300_000)
    let put = send("3", #"{"type":"put","number":1,"text":"\#(text)"}"#, to: "loose")
    peer.send("[\(put),\(set("4", 5)),\(subscribe("5"))]")
    peer.world.orders.tell("a", .set(7), .end)
    try await peer.world.loop.turns(2)
    #expect(try await peer.messages(1).first?.contains(text) == true)
    peer.expectNothing()
    peer.catchUp()
    try await peer.expect(
      changed(0, 1, number: 5, applied: "4"),
      "[\(sent("3", revision: 1)),\(sent("4", revision: 1)),"
        + answer("5", #"{"revision":1,"state":{"number":5,"text":""}}"#) + "]",
      changed(1, 2, number: 7, applied: "4"), sent("2", revision: 2))
  }

  @Test("while messages are queued, new messages do not overtake them when the client reads again")
  func notNotifiedYet() async throws {
    let peer = Peer()
    peer.writing = { peer.isCongested = true }
    peer.send(work("1", "a"), request("2", "ping"))
    peer.writing = nil
    peer.send(request("3", "ping"))
    // At the next write the client reads again, but the connection has not been notified yet.
    peer.isCongested = false
    peer.world.orders.tell("a", .end)
    try await peer.world.loop.turns(1)
    try await peer.expect(answer("2"))
    peer.send(request("4", "ping"))
    peer.expectNothing()
    #expect(!peer.wantsBytes)
    peer.catchUp()
    try await peer.expect(sent("1", revision: 0, changed: false), answer("3"), answer("4"))
  }

  @Test("the server responds to all queued messages after the end of input, then closes")
  func endOfInput() async throws {
    // Once, the response to the open request closed the connection while messages were queued.
    let peer = Peer()
    peer.writing = { peer.isCongested = true }
    peer.send(work("1", "a"), request("2", "ping"))
    peer.writing = nil
    peer.send(request("3", "$/cancelRequest", #"{"id":1}"#), request("4", "ping"))
    peer.send(bytes: Array(request("5", "ping").utf8))
    peer.tell(.inputEnded)
    try await peer.expect(answer("2"))
    #expect(!peer.isClosed)
    peer.catchUp()
    try await peer.expect(failure("1", -32800), answer("3"), answer("4"), answer("5"))
    #expect(peer.isClosed)
  }

  @Test("the server handles queued messages also after the time is up, and then cancels their work")
  func timeIsUp() async throws {
    let peer = congested()
    peer.send(request("1", "ping"), work("2", "a"), request("3", "ping"))
    peer.tell(.inputEnded)
    peer.tell(.timeIsUp)
    try await peer.expect(answer("\"first\""))
    #expect(!peer.isClosed)
    peer.catchUp()
    try await peer.expect(answer("1"), answer("3"), failure("2", -32800))
    #expect(peer.isClosed)
  }

  @Test("the server drops queued messages when the client disconnects")
  func disconnected() async throws {
    let peer = congested()
    try await peer.expect(answer("\"first\""))
    peer.send(request("1", "ping"))
    peer.tell(.disconnected)
    peer.catchUp()
    peer.expectNothing()
  }

  // Once, the client added itself to the deliveries during a delivery, and delivered nothing from
  // then on.
  @Test("bytes of a turn before the client blocks are sent, and later bytes of the turn wait")
  func congestedInTurn() throws {
    let peer = Peer()
    // because the test is the loop: nothing else runs on the shard.
    nonisolated(unsafe) let connection = try #require(peer.connection)
    peer.world.shard.assumeIsolated { shard in
      shard.turn {
        connection.writer.fail(RPCError(.invalidRequest, "first"))
        connection.writer.flush()
        connection.writer.isCongested = true
        connection.writer.fail(RPCError(.invalidRequest, "second"))
      }
    }
    #expect(peer.takeMessages().map { $0.contains("first") } == [true])
    peer.goOn()
    #expect(peer.takeMessages().map { $0.contains("second") } == [true])
    peer.send(request("1", "ping"))
    #expect(peer.takeMessages().count == 1)
  }
}
