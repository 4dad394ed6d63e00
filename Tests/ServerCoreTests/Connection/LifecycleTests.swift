// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ServerCore

/// The ends of connections.
@Suite("End of a connection", .timeLimit(.minutes(15)))
struct LifecycleTests {
  static let scripts = [
    Script(
      "without open requests, the end of input closes the connection immediately",
      .send(request("1", "ping")), .expect(answer("1")), .end, .expectNothing, .closed
    ),
    Script("a client that sends nothing", .end, .expectNothing, .closed),
    Script(
      "open requests get their responses before the connection closes",
      .send(subscribe("0"), work("1", "a"), work("2", "b"), work("3", "c", settle: false)), .end,
      .expect(answer("0", BatchTests.state), sent("3", revision: 0, changed: false)),
      .order("b", .set(1), .end),
      .expect(changed(0, 1, number: 1, applied: "3"), sent("2", revision: 1)),
      .order("a", .end), .expect(sent("1", revision: 1)), .closed
    ),
    Script(
      "an open batch gets its response before the connection closes",
      .send("[\(work("1", "a")),\(request("2", "ping"))]"), .end, .expectNothing,
      .order("a", .end), .expect("[\(answer("2")),\(sent("1", revision: 0, changed: false))]"),
      .closed
    ),
    Script(
      "the connection does not wait for effects of completed requests",
      .send(work("1", "a", settle: false)), .end,
      .expect(sent("1", revision: 0, changed: false)), .closed
    ),
  ]

  @Test("the server responds to open requests after the end of input", arguments: scripts)
  func script(_ script: Script) async throws { try await script.run() }

  @Test("the server accepts a last line without a line end")
  func lastLine() async throws {
    let peer = Peer()
    peer.send(bytes: Array(request("1", "ping").utf8))
    peer.expectNothing()
    peer.tell(.inputEnded)
    try await peer.expect(answer("1"))
    #expect(peer.isClosed)
  }

  @Test("the server responds to an incomplete frame at the end of input, after earlier requests")
  func halfFrame() async throws {
    for half in ["Content-Length: 2\r\n\r\n{", "Content-Le"] {
      let peer = Peer(World(), .headers)
      peer.send(work("1", "a"))
      peer.send(bytes: Array(half.utf8))
      peer.tell(.inputEnded)
      try await peer.expect(failure("null", -32700))
      #expect(!peer.isClosed)
      peer.world.orders.tell("a", .end)
      try await peer.expect(sent("1", revision: 0, changed: false))
      #expect(peer.isClosed)
    }
  }

  @Test("after an unusable header, the server completes open requests and reads nothing more")
  func unusableHeader() async throws {
    let peer = Peer(World(), .headers)
    peer.send(work("1", "a"))
    peer.send(bytes: Array("Content-Length: x\r\n\r\n".utf8))
    try await peer.expect(failure("null", -32700))
    #expect(!peer.isClosed)
    #expect(peer.wantsBytes, "otherwise the end of input would not be read")
    peer.send(request("2", "ping"))
    peer.tell(.inputEnded)
    peer.expectNothing()
    peer.world.orders.tell("a", .end)
    try await peer.expect(sent("1", revision: 0, changed: false))
    #expect(peer.isClosed)
  }

  @Test("when the time is up, open requests are cancelled in order, then the connection closes")
  func timeIsUp() async throws {
    // Once, the first of these responses closed the connection, and the others were lost.
    for endsFirst in [false, true] {
      let peer = Peer()
      peer.send(
        work("1", "a"), work("2", "b", settle: false),
        "[\(work("3", "c")),\(request("4", "ping"))]",
        work("5", "d"))
      if endsFirst { peer.tell(.inputEnded) }
      try await peer.expect(sent("2", revision: 0, changed: false))
      peer.tell(.timeIsUp)
      try await peer.expect(
        failure("1", -32800), "[\(answer("4")),\(failure("3", -32800))]", failure("5", -32800))
      #expect(peer.isClosed)
      for name in ["a", "b", "c", "d"] { await peer.world.orders.cancelled(name) }
      peer.tell(.timeIsUp)
      peer.send(request("6", "ping"))
      peer.expectNothing()
    }
  }

  @Test(
    "a server that ends completes open requests, and drops an incomplete frame without an error")
  func finish() async throws {
    for framing in Framing.allCases {
      let peer = Peer(World(), framing)
      peer.send(work("1", "a"))
      peer.send(bytes: peer.bytes(of: [request("2", "ping")]).dropLast())
      peer.tell(.finish)
      peer.expectNothing()
      #expect(!peer.isClosed)
      peer.send(request("3", "ping"))
      peer.tell(.inputEnded)
      peer.tell(.finish)
      peer.world.orders.tell("a", .end)
      try await peer.expect(sent("1", revision: 0, changed: false))
      #expect(peer.isClosed)
    }
    let peer = Peer()
    peer.tell(.finish)
    #expect(peer.isClosed)
  }

  @Test(
    "a lingering client's messages are ignored, but it gets updates until all others have ended")
  func linger() async throws {
    for end in [.finish, .timeIsUp] as [Connection.Event] {
      let peer = Peer()
      peer.send(subscribe("0"), work("1", "a", settle: false))
      _ = try await peer.messages(2)
      peer.tell(.linger)
      peer.send(request("2", "ping"))
      peer.tell(.inputEnded)
      peer.expectNothing()
      #expect(!peer.isClosed)
      #expect(!peer.wantsBytes)
      peer.world.orders.tell("a", .set(7))
      try await peer.expect(changed(0, 1, number: 7, applied: "1"))
      peer.tell(end)
      peer.expectNothing()
      #expect(peer.isClosed)
    }
  }

  @Test("when the client disconnects, its work is cancelled and the session's stores end")
  func disconnected() async throws {
    let peer = Peer()
    peer.send(
      subscribe("0"), work("1", "a"), work("2", "b", settle: false),
      notification("store/send", #"{"store":"probe","input":{"type":"work","name":"c"}}"#))
    _ = try await peer.messages(2)
    peer.tell(.disconnected)
    for name in ["a", "b", "c"] { await peer.world.orders.cancelled(name) }
    for event in [.inputEnded, .caughtUp, .timeIsUp, .disconnected] as [Connection.Event] {
      peer.tell(event)
    }
    peer.send(request("3", "ping"))
    peer.expectNothing()
    #expect(!peer.isClosed, "the connection has ended already")
    #expect(!peer.wantsBytes)
  }

  @Test("the server handles a disconnect after any of several writes", arguments: 1...5)
  func disconnectedAfterWrite(_ number: Int) async throws {
    let peer = Peer(limits: Self.limits { $0.outboxBytes = 301_000 })
    let text = String(repeating: "x", count: 300_000)
    peer.send(
      subscribe("1"), work("2", "a"), send("3", #"{"type":"say","text":"\#(text)"}"#),
      subscribe("4"), work("5", "b"), send("6", #"{"type":"say","text":"\#(text)y"}"#),
      work("7", "c"), request("8", "store/close", #"{"store":"probe"}"#), request("9", "ping"))
    while peer.writes.count < number, peer.isYieldingToOthers { peer.goOn() }
    #expect(peer.writes.count >= number)
    peer.tell(.disconnected)
    #expect(!peer.isClosed)
    peer.world.loop.runAll()
  }

  @Test("the connection writes once per turn, however many requests the turn has")
  func oneWrite() async throws {
    let peer = Peer()
    peer.send(subscribe("0"), set("1", 1), request("2", "ping"), "[1]", "{", set("3", 2))
    #expect(peer.writes.count == 1)
    #expect(try await peer.messages(8).count == 8)
    peer.send(work("4", "a"))
    #expect(peer.writes.count == 1, "a turn without output writes nothing")
    peer.world.orders.tell("a", .set(9), .end)
    _ = try await peer.messages(2)
    #expect(peer.writes.count == 3, "one turn for the action, one for the end")
  }

  @Test("the connection ends a turn early that has written many bytes")
  func largeResponses() async throws {
    let peer = Peer()
    let text = String(repeating: "x", count: 100_000)
    peer.send(send("0", #"{"type":"say","text":"\#(text)"}"#))
    _ = try await peer.messages(1)
    peer.send(bytes: peer.bytes(of: (1...10).map { subscribe("\($0)") }))
    #expect(peer.writes.count == 2)
    peer.goOnToTheEnd()
    #expect(peer.writes.dropFirst().map { $0.count / 100_000 } == [3, 3, 3, 1])
    #expect(try await peer.messages(10).count == 10)
  }

  @Test("updates of a large batch are coalesced when they have many bytes")
  func largeBatch() async throws {
    let peer = Peer(World(), .headers)
    let text = String(repeating: "x", count: 100_000)
    peer.send(request("0", "store/subscribe", #"{"store":"probe","format":"state"}"#))
    peer.send(send("1", #"{"type":"say","text":"\#(text)"}"#))
    _ = try await peer.messages(3)
    peer.send("[\((1...10).map { set("\($0)", $0) }.joined(separator: ","))]")
    peer.goOnToTheEnd()
    let messages = try await peer.messages(5).map { try JSONValue(parsing: $0) }
    #expect(messages.count == 5)
    // The last update precedes the response.
    let last = messages[4].array?.last
    #expect(messages[3]["params"]?["revision"]?.int == last?["result"]?["revision"]?.int)
  }

  @Test("the server closes a slow consumer whose outbox exceeds the limit, and writes nothing more")
  func outbox() async throws {
    let peer = Peer(limits: Self.limits { $0.outboxBytes = 1000 })
    for number in 1...100 { peer.send(work("\(number)", "w\(number)")) }
    peer.isCongested = true
    // Without further requests: late responses are sent without a request.
    var count = 0
    while !peer.isClosed, count < 100 {
      count += 1
      peer.world.orders.tell("w\(count)", .end)
      try await peer.world.loop.turns(1)
    }
    #expect(peer.isAbandoned)
    #expect(!peer.wantsBytes)
    // Only the bytes of the write at which it stopped reading were sent.
    let answer = try #require(peer.writes.first).count
    #expect(peer.writes.count == 1)
    #expect(count > 1000 / answer && count < 100)
    let writes = peer.writes.count
    peer.world.orders.tell("w100", .end)
    try await peer.world.loop.turns(1)
    peer.send(request("2", "ping"))
    peer.catchUp()
    peer.tell(.timeIsUp)
    #expect(peer.writes.count == writes)
  }

  @Test("a message over the outbox limit reaches a client that reads")
  func largeFrame() async throws {
    let peer = Peer(limits: Self.limits { $0.outboxBytes = 1000 })
    peer.send(subscribe("0", "loose"))
    _ = try await peer.messages(1)
    let text = String(repeating: "x", count: 5000)
    peer.send(send("1", #"{"type":"put","number":1,"text":"\#(text)"}"#, to: "loose"))
    #expect(try await peer.messages(2).first?.contains(text) == true)
    #expect(!peer.isClosed)
  }

  static func limits(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
    var limits = ServerLimits()
    change(&limits)
    return limits
  }
}
