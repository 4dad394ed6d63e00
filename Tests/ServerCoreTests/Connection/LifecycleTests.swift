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
      .send(request("1", "ping")), .expect(response("1")), .end, .expectNothing, .closed
    ),
    Script("a client that sends nothing", .end, .expectNothing, .closed),
    Script(
      "open requests get their responses before the connection closes",
      .send(subscribe("0"), work("1", "a"), work("2", "b"), work("3", "c", settle: false)), .end,
      .expect(response("0", BatchTests.state), sent("3", revision: 0, changed: false)),
      .order("b", .set(1), .end),
      .expect(changed(0, 1, number: 1, applied: "3"), sent("2", revision: 1)),
      .order("a", .end), .expect(sent("1", revision: 1)), .closed
    ),
    Script(
      "an open batch gets its response before the connection closes",
      .send("[\(work("1", "a")),\(request("2", "ping"))]"), .end, .expectNothing,
      .order("a", .end), .expect("[\(response("2")),\(sent("1", revision: 0, changed: false))]"),
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
    let client = TestClient()
    client.send(bytes: Array(request("1", "ping").utf8))
    client.expectNothing()
    client.tell(.inputEnded)
    try await client.expect(response("1"))
    #expect(client.isClosed)
  }

  @Test("the server responds to an incomplete frame at the end of input, after earlier requests")
  func halfFrame() async throws {
    for half in ["Content-Length: 2\r\n\r\n{", "Content-Le"] {
      let client = TestClient(World(), .headers)
      client.send(work("1", "a"))
      client.send(bytes: Array(half.utf8))
      client.tell(.inputEnded)
      try await client.expect(failure("null", -32700))
      #expect(!client.isClosed)
      client.world.orders.tell("a", .end)
      try await client.expect(sent("1", revision: 0, changed: false))
      #expect(client.isClosed)
    }
  }

  @Test("after an unusable header, the server completes open requests and reads nothing more")
  func unusableHeader() async throws {
    let client = TestClient(World(), .headers)
    client.send(work("1", "a"))
    client.send(bytes: Array("Content-Length: x\r\n\r\n".utf8))
    try await client.expect(failure("null", -32700))
    #expect(!client.isClosed)
    #expect(client.wantsBytes, "otherwise the end of input would not be read")
    client.send(request("2", "ping"))
    client.tell(.inputEnded)
    client.expectNothing()
    client.world.orders.tell("a", .end)
    try await client.expect(sent("1", revision: 0, changed: false))
    #expect(client.isClosed)
  }

  @Test("when the time is up, open requests are cancelled in order, then the connection closes")
  func timeIsUp() async throws {
    // Once, the first of these responses closed the connection, and the others were lost.
    for endsFirst in [false, true] {
      let client = TestClient()
      client.send(
        work("1", "a"), work("2", "b", settle: false),
        "[\(work("3", "c")),\(request("4", "ping"))]",
        work("5", "d"))
      if endsFirst { client.tell(.inputEnded) }
      try await client.expect(sent("2", revision: 0, changed: false))
      client.tell(.timeIsUp)
      try await client.expect(
        failure("1", -32800), "[\(response("4")),\(failure("3", -32800))]", failure("5", -32800))
      #expect(client.isClosed)
      for name in ["a", "b", "c", "d"] { await client.world.orders.cancelled(name) }
      client.tell(.timeIsUp)
      client.send(request("6", "ping"))
      client.expectNothing()
    }
  }

  @Test(
    "a server that ends completes open requests, and drops an incomplete frame without an error")
  func finish() async throws {
    for framing in Framing.allCases {
      let client = TestClient(World(), framing)
      client.send(work("1", "a"))
      client.send(bytes: client.bytes(of: [request("2", "ping")]).dropLast())
      client.tell(.finish)
      client.expectNothing()
      #expect(!client.isClosed)
      client.send(request("3", "ping"))
      client.tell(.inputEnded)
      client.tell(.finish)
      client.world.orders.tell("a", .end)
      try await client.expect(sent("1", revision: 0, changed: false))
      #expect(client.isClosed)
    }
    let client = TestClient()
    client.tell(.finish)
    #expect(client.isClosed)
  }

  @Test(
    "a lingering client's messages are ignored, but it gets updates until all others have ended")
  func linger() async throws {
    for end in [.finish, .timeIsUp] as [Connection.Event] {
      let client = TestClient()
      client.send(subscribe("0"), work("1", "a", settle: false))
      _ = try await client.messages(2)
      client.tell(.linger)
      client.send(request("2", "ping"))
      client.tell(.inputEnded)
      client.expectNothing()
      #expect(!client.isClosed)
      #expect(!client.wantsBytes)
      client.world.orders.tell("a", .set(7))
      try await client.expect(changed(0, 1, number: 7, applied: "1"))
      client.tell(end)
      client.expectNothing()
      #expect(client.isClosed)
    }
  }

  @Test("when the client disconnects, its work is cancelled and the session's stores end")
  func disconnected() async throws {
    let client = TestClient()
    client.send(
      subscribe("0"), work("1", "a"), work("2", "b", settle: false),
      notification("store/send", #"{"store":"probe","input":{"type":"work","name":"c"}}"#))
    _ = try await client.messages(2)
    client.tell(.disconnected)
    for name in ["a", "b", "c"] { await client.world.orders.cancelled(name) }
    for event in [.inputEnded, .caughtUp, .timeIsUp, .disconnected] as [Connection.Event] {
      client.tell(event)
    }
    client.send(request("3", "ping"))
    client.expectNothing()
    #expect(!client.isClosed, "the connection has ended already")
    #expect(!client.wantsBytes)
  }

  @Test("the server handles a disconnect after any of several writes", arguments: 1...5)
  func disconnectedAfterWrite(_ number: Int) async throws {
    let client = TestClient(limits: Self.limits { $0.outboxBytes = 301_000 })
    let text = String(repeating: "x", count: 300_000)
    client.send(
      subscribe("1"), work("2", "a"), send("3", #"{"type":"say","text":"\#(text)"}"#),
      subscribe("4"), work("5", "b"), send("6", #"{"type":"say","text":"\#(text)y"}"#),
      work("7", "c"), request("8", "store/close", #"{"store":"probe"}"#), request("9", "ping"))
    while client.writes.count < number, client.isYieldingToOthers { client.continueWork() }
    #expect(client.writes.count >= number)
    client.tell(.disconnected)
    #expect(!client.isClosed)
    client.world.loop.runAll()
  }

  @Test("the connection writes once per turn, however many requests the turn has")
  func oneWrite() async throws {
    let client = TestClient()
    client.send(subscribe("0"), set("1", 1), request("2", "ping"), "[1]", "{", set("3", 2))
    #expect(client.writes.count == 1)
    #expect(try await client.messages(8).count == 8)
    client.send(work("4", "a"))
    #expect(client.writes.count == 1, "a turn without output writes nothing")
    client.world.orders.tell("a", .set(9), .end)
    _ = try await client.messages(2)
    #expect(client.writes.count == 3, "one turn for the action, one for the end")
  }

  @Test("the connection ends a turn early that has written many bytes")
  func largeResponses() async throws {
    let client = TestClient()
    let text = String(repeating: "x", count: 100_000)
    client.send(send("0", #"{"type":"say","text":"\#(text)"}"#))
    _ = try await client.messages(1)
    client.send(bytes: client.bytes(of: (1...10).map { subscribe("\($0)") }))
    #expect(client.writes.count == 2)
    client.continueUntilIdle()
    #expect(client.writes.dropFirst().map { $0.count / 100_000 } == [3, 3, 3, 1])
    #expect(try await client.messages(10).count == 10)
  }

  @Test("updates of a large batch are coalesced when they have many bytes")
  func largeBatch() async throws {
    let client = TestClient(World(), .headers)
    let text = String(repeating: "x", count: 100_000)
    client.send(request("0", "store/subscribe", #"{"store":"probe","format":"state"}"#))
    client.send(send("1", #"{"type":"say","text":"\#(text)"}"#))
    _ = try await client.messages(3)
    client.send("[\((1...10).map { set("\($0)", $0) }.joined(separator: ","))]")
    client.continueUntilIdle()
    let messages = try await client.messages(5).map { try JSONValue(parsing: $0) }
    #expect(messages.count == 5)
    // The last update precedes the response.
    let last = messages[4].array?.last
    #expect(messages[3]["params"]?["revision"]?.int == last?["result"]?["revision"]?.int)
  }

  @Test("the server closes a slow consumer whose outbox exceeds the limit, and writes nothing more")
  func outbox() async throws {
    let client = TestClient(limits: Self.limits { $0.outboxBytes = 1000 })
    for number in 1...100 { client.send(work("\(number)", "w\(number)")) }
    client.isCongested = true
    // Without further requests: late responses are sent without a request.
    var count = 0
    while !client.isClosed, count < 100 {
      count += 1
      client.world.orders.tell("w\(count)", .end)
      try await client.world.loop.turns(1)
    }
    #expect(client.isAbandoned)
    #expect(!client.wantsBytes)
    // Only the bytes of the write at which it stopped reading were sent.
    let size = try #require(client.writes.first).count
    #expect(client.writes.count == 1)
    #expect(count > 1000 / size && count < 100)
    let writes = client.writes.count
    client.world.orders.tell("w100", .end)
    try await client.world.loop.turns(1)
    client.send(request("2", "ping"))
    client.catchUp()
    client.tell(.timeIsUp)
    #expect(client.writes.count == writes)
  }

  @Test("a message over the outbox limit reaches a client that reads")
  func largeFrame() async throws {
    let client = TestClient(limits: Self.limits { $0.outboxBytes = 1000 })
    client.send(subscribe("0", "loose"))
    _ = try await client.messages(1)
    let text = String(repeating: "x", count: 5000)
    client.send(send("1", #"{"type":"put","number":1,"text":"\#(text)"}"#, to: "loose"))
    #expect(try await client.messages(2).first?.contains(text) == true)
    #expect(!client.isClosed)
  }

  static func limits(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
    var limits = ServerLimits()
    change(&limits)
    return limits
  }
}
