// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import Delivery
@testable import ServerCore

/// States that take long to encode.
@Suite("Large states", .timeLimit(.minutes(15)))
struct LargeStateTests {
  private static let text = String(repeating: "x", count: 600_000)
  private static let state = request("9", "store/state", #"{"store":"probe"}"#)

  /// Returns a client in a session whose `probe` store has a large state.
  private func large(_ limits: ServerLimits = .init()) async throws
    -> TestClient
  {
    let client = TestClient(limits: limits)
    client.send(send("0", #"{"type":"say","text":"\#(Self.text)"}"#))
    _ = try await client.messages(1)
    return client
  }

  /// Returns the next messages, with the large text replaced.
  private func take(_ client: TestClient, _ count: Int) async throws -> [String] {
    try await client.messages(count).map { $0.replacing(Self.text, with: "…") }
  }

  /// Turns the loop until `count` messages have arrived.
  private func turn(_ client: TestClient, until count: Int) async throws -> [String] {
    var messages = client.takeMessages()
    while messages.count < count {
      if client.isYieldingToOthers {
        client.continueWork()
      } else {
        try await client.world.loop.turn()
      }
      messages += client.takeMessages()
    }
    return messages.map { $0.replacing(Self.text, with: "…") }
  }

  @Test("a response to a batch is encoded off the loop, and the batch's next request waits for it")
  func batch() async throws {
    let client = try await large()
    client.send("[\(Self.state),\(set("1", 5)),\(subscribe("2"))]", request("3", "ping"))
    // Before a turn of the loop, in which the response could already arrive.
    #expect(client.takeMessages().isEmpty)
    #expect(!client.wantsBytes && !client.isIdle)
    client.tell(.inputEnded)
    #expect(!client.isClosed)
    let messages = try await take(client, 2)
    #expect(messages[0].hasPrefix(#"[{"jsonrpc":"2.0","id":9,"result":{"revision":1,"state":"#))
    #expect(messages[0].contains(#"},{"jsonrpc":"2.0","id":1,"result":{"revision":2,"#))
    #expect(
      messages[0].hasSuffix(
        #"{"jsonrpc":"2.0","id":2,"result":{"revision":2,"state":{"number":5,"text":"…"}}}]"#))
    #expect(messages[1].contains(#""id":3"#))
    #expect(client.isClosed)
  }

  @Test("a batch response that was encoded off the loop is dropped if the client has disconnected")
  func batchForDisconnected() async throws {
    let client = try await large()
    client.send("[\(Self.state),\(set("1", 5))]")
    client.tell(.disconnected)
    try await client.world.loop.turn()
    client.expectNothing()
  }

  @Test("the session/attach response is encoded off the loop, and later updates keep their place")
  func attach() async throws {
    let world = World()
    let first = TestClient(world)
    first.send(
      send("0", #"{"type":"say","text":"\#(Self.text)"}"#), set("1", 1, to: "loose"),
      request("2", "session/open"))
    let opened = try await first.messages(3)[2]
    let handle = try #require(opened.split(separator: "\"").first { $0.utf8.count > 20 })
    let second = TestClient(world)
    second.send(
      request(
        "1", "session/attach",
        #"{"session":"\#(handle)","revisions":{"probe":null,"loose":null}}"#), set("2", 7))
    // Before a turn of the loop. The thread sanitizer found that otherwise the response could
    // already be encoded, while the test waited for it.
    #expect(second.takeMessages().isEmpty)
    let messages = try await take(second, 3)
    #expect(messages[0].contains(#""snapshot":{"revision":1,"state":{"number":0,"text":"…"}}"#))
    #expect(messages[1].contains(#""base":1,"revision":2"#) && messages[2].contains(#""id":2"#))
  }

  @Test("a result over the outbox limit is refused, and the connection stays open")
  func tooLong() async throws {
    var limits = ServerLimits()
    limits.outboxBytes = 100_000
    let client = try await large(limits)
    let refused = failure("9", -32015, data: #"{"limit":"outboxBytes"}"#)
    client.send(Self.state, request("1", "ping"))
    try await client.world.loop.turn()
    try await client.expect(refused, response("1"))
    client.send("[\(Self.state),\(request("1", "ping"))]")
    try await client.world.loop.turn()
    try await client.expect("[\(refused),\(response("1"))]")
    // The limit also applies to results that are encoded in the turn.
    limits.outboxBytes = 300
    let other = TestClient(limits: limits)
    other.send(send("0", #"{"type":"say","text":"\#(String(repeating: "x", count: 400))"}"#))
    other.send(subscribe("9"), request("1", "ping"))
    try await other.expect(sent("0", revision: 1), refused, response("1"))
    #expect(!client.isClosed && !other.isClosed)
  }

  @Test("a large message is sent in pieces to a client that reads, within the outbox limit")
  func pieces() async throws {
    var limits = ServerLimits()
    limits.outboxBytes = 700_000
    let client = try await large(limits)
    client.send(Self.state)
    try await client.world.loop.turn()
    client.continueUntilIdle()
    #expect(client.writes.count > 5 && client.writes.allSatisfy { $0.count <= 300_000 })
    #expect(try await take(client, 1)[0].contains("…"))
  }

  // Messages of the client's other connection were written inside the message.
  @Test("a connection whose client continues on another one writes whole messages")
  func whole() async throws {
    let client = try await large()
    client.connection?.write(to: client)
    client.send(Self.state, request("1", "ping"))
    try await client.world.loop.turn()
    client.continueUntilIdle()
    #expect(client.writes.contains { $0.count > 300_000 })
    #expect(client.writes.allSatisfy { $0.last == UInt8(ascii: "\n") })
    #expect(try await take(client, 2)[0].contains("…"))
  }

  // Responses accumulated after the large one, and the server closed the client as a slow consumer
  // although it read.
  @Test("a client's messages wait until a large response has been sent")
  func pipelined() async throws {
    let client = try await large()
    let pings = (1...200).map { request("\($0)", "ping") }
    client.send(bytes: client.bytes(of: [Self.state] + pings))
    try await client.world.loop.turn()
    for _ in 0..<5 {
      #expect(client.isYieldingToOthers && !client.wantsBytes)
      #expect(client.writes.last?.contains(UInt8(ascii: "\n")) == false)
      client.continueWork()
    }
    client.continueUntilIdle()
    let messages = try await take(client, 201)
    #expect(messages[0].contains("…") && messages[200].contains(#""id":200,"#))
    #expect(client.wantsBytes)
  }

  // Updates were written after the end of the response, and delayed updates came before them.
  @Test("during a large response, updates for the client are coalesced and sent after it")
  func updatesAfterResponse() async throws {
    let client = try await large()
    client.send(request("1", "session/open"), subscribe("2"))
    let opened = try JSONValue(parsing: try await take(client, 2)[0])
    let handle = try #require(opened["result"]?["session"]?.string)
    let driver = TestClient(client.world)
    driver.send(
      request("1", "session/attach", "{\"session\":\"\(handle)\",\"revisions\":{}}"))
    client.send(Self.state)
    try await client.world.loop.turn()
    #expect(client.isYieldingToOthers)
    driver.send(set("2", 7), set("3", 8), set("4", 9))
    // The presence notification of the driver comes first.
    let messages = try await turn(client, until: 3)
    client.continueUntilIdle()
    #expect(messages.count == 3 && client.takeMessages().isEmpty)
    #expect(messages[1].contains("…"))
    #expect(messages[2].contains(#""base":1,"revision":4,"#))
  }

  @Test(
    "a client that is evicted during a large response gets all of it, and then the reason",
    arguments: [false, true])
  func evicted(isSlow: Bool) async throws {
    let client = try await large()
    let name = #"{"frontend":"page"}"#
    client.send(request("1", "session/open", name))
    let opened = try JSONValue(parsing: try await client.messages(1)[0])
    let handle = try #require(opened["result"]?["session"]?.string)
    client.send(Self.state)
    try await client.world.loop.turn()
    #expect(client.isYieldingToOthers)
    client.isCongested = isSlow
    let other = TestClient(client.world)
    other.send(
      request(
        "1", "session/attach",
        "{\"session\":\"\(handle)\",\"frontend\":\"page\",\"revisions\":{}}"))
    client.continueUntilIdle()
    if isSlow {
      #expect(!client.isClosed)
      client.catchUp()
      client.continueUntilIdle()
    }
    #expect(client.isClosed && !client.isAbandoned)
    let messages = client.takeMessages()
    #expect(messages.count == 2 && messages[1].contains(#""reason":"evicted""#))
  }

  // The client was disconnected without errors.
  @Test("a lost session database gives an error to a request whose large response is being encoded")
  func databaseIsGone() async throws {
    let client = try await large()
    client.send(Self.state, request("10", "ping"))
    client.tell(.databaseIsGone(isLong: false))
    let messages = client.takeMessages()
    #expect(messages.count == 2 && messages.allSatisfy { $0.contains("-32800") })
    #expect(client.isClosed && !client.isAbandoned)
  }

  // Each waiting request had an array of its own, and the others had no response.
  @Test("a lost session database gives one array of errors to each batch")
  func databaseIsGoneWithBatches() async throws {
    let client = try await large()
    client.send(
      "[\(request("1", "ping")),\(work("2", "a")),\(work("3", "b"))]",
      "[\(request("4", "ping")),\(Self.state),\(request("5", "ping")),\(set("6", 1))]",
      request("7", "ping"))
    #expect(client.takeMessages().isEmpty)
    client.tell(.databaseIsGone(isLong: false))
    let messages = try client.takeMessages().map { try JSONValue(parsing: Array($0.utf8)) }
    let ids = messages.compactMap(\.array).map { $0.compactMap { $0["id"]?.int } }
    #expect(Set(ids) == [[1, 2, 3], [4, 9, 5, 6]])
    #expect(messages.count == 3 && messages.contains { $0["id"]?.int == 7 })
  }

  // The state that waited for its pause came after the error.
  @Test("no update follows the error of a client that is refused")
  func refused() async throws {
    let client = try await large()
    client.send(
      request("1", "store/subscribe", #"{"store":"probe","format":"state"}"#), set("2", 1))
    _ = try await turn(client, until: 3)
    for number in 3...6 {
      client.send(set("\(number)", number))
      guard client.connection?.writer.largeChanges.isEmpty == true else { break }
      _ = try await turn(client, until: 2)
    }
    #expect(client.connection?.writer.largeChanges.count == 1)
    client.tell(.refused(.idleTime))
    while !client.isClosed {
      if client.isYieldingToOthers {
        client.continueWork()
      } else {
        try await client.world.loop.turn()
      }
    }
    let messages = client.takeMessages()
    #expect(messages.last?.contains("\"id\":null") == true)
  }

  @Test("updates with a large state are coalesced, and sent after a pause")
  func stateFormat() async throws {
    let client = try await large()
    client.send(
      request("1", "store/subscribe", #"{"store":"probe","format":"state"}"#),
      set("2", 1), set("3", 2))
    // Responses wait for the state that is being encoded.
    var messages = try await turn(client, until: 4)
    #expect(messages[0].contains(#""id":1"#))
    #expect(messages[1].contains(#""base":1,"revision":3,"state":{"number":2,"text":"…"}"#))
    #expect(messages[2].contains(#""id":2"#) && messages[3].contains(#""id":3"#))
    client.send(set("4", 3), set("5", 4))
    messages = try await turn(client, until: 3)
    // The pause may or may not have ended by then.
    let last = try #require(messages.first { $0.contains("store/changed") })
    #expect(last.contains(#""base":3,"revision":5,"state":{"number":4,"text":"…"},"applied":5"#))
    // A response with the state is not older than the update before it.
    client.send(set("6", 5), Self.state)
    messages = try await turn(client, until: 3)
    #expect(
      messages.first { !$0.contains(#""id":6"#) }?.contains(#""base":5,"revision":6,"#) == true)
    #expect(messages[2].contains(#""id":9"#) && messages[2].contains(#""number":5"#))
    for number in 7...9 {
      client.send(set("\(number)", number), Self.state)
      _ = try await turn(client, until: 3)
    }
    #expect(client.connection?.writer.largeChanges.count ?? 0 <= 1)
  }
}
