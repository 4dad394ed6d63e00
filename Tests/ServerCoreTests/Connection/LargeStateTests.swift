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
    -> Peer
  {
    let peer = Peer(limits: limits)
    peer.send(send("0", #"{"type":"say","text":"\#(Self.text)"}"#))
    _ = try await peer.messages(1)
    return peer
  }

  /// Returns the next messages, with the large text replaced.
  private func take(_ peer: Peer, _ count: Int) async throws -> [String] {
    try await peer.messages(count).map { $0.replacing(Self.text, with: "…") }
  }

  /// Turns the loop until `count` messages have arrived.
  private func turn(_ peer: Peer, until count: Int) async throws -> [String] {
    var messages = peer.takeMessages()
    while messages.count < count {
      if peer.isYieldingToOthers { peer.goOn() } else { try await peer.world.loop.turn() }
      messages += peer.takeMessages()
    }
    return messages.map { $0.replacing(Self.text, with: "…") }
  }

  @Test("a response to a batch is encoded off the loop, and the batch's next request waits for it")
  func batch() async throws {
    let peer = try await large()
    peer.send("[\(Self.state),\(set("1", 5)),\(subscribe("2"))]", request("3", "ping"))
    // Before a turn of the loop, in which the response could already arrive.
    #expect(peer.takeMessages().isEmpty)
    #expect(!peer.wantsBytes && !peer.isIdle)
    peer.tell(.inputEnded)
    #expect(!peer.isClosed)
    let messages = try await take(peer, 2)
    #expect(messages[0].hasPrefix(#"[{"jsonrpc":"2.0","id":9,"result":{"revision":1,"state":"#))
    #expect(messages[0].contains(#"},{"jsonrpc":"2.0","id":1,"result":{"revision":2,"#))
    #expect(
      messages[0].hasSuffix(
        #"{"jsonrpc":"2.0","id":2,"result":{"revision":2,"state":{"number":5,"text":"…"}}}]"#))
    #expect(messages[1].contains(#""id":3"#))
    #expect(peer.isClosed)
  }

  @Test("a batch response that was encoded off the loop is dropped if the client has disconnected")
  func batchForDisconnected() async throws {
    let peer = try await large()
    peer.send("[\(Self.state),\(set("1", 5))]")
    peer.tell(.disconnected)
    try await peer.world.loop.turn()
    peer.expectNothing()
  }

  @Test("the session/attach response is encoded off the loop, and later updates keep their place")
  func attach() async throws {
    let world = World()
    let first = Peer(world)
    first.send(
      send("0", #"{"type":"say","text":"\#(Self.text)"}"#), set("1", 1, to: "loose"),
      request("2", "session/open"))
    let opened = try await first.messages(3)[2]
    let handle = try #require(opened.split(separator: "\"").first { $0.utf8.count > 20 })
    let second = Peer(world)
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
    let peer = try await large(limits)
    let refused = failure("9", -32015, data: #"{"limit":"outboxBytes"}"#)
    peer.send(Self.state, request("1", "ping"))
    try await peer.world.loop.turn()
    try await peer.expect(refused, answer("1"))
    peer.send("[\(Self.state),\(request("1", "ping"))]")
    try await peer.world.loop.turn()
    try await peer.expect("[\(refused),\(answer("1"))]")
    // The limit also applies to results that are encoded in the turn.
    limits.outboxBytes = 300
    let other = Peer(limits: limits)
    other.send(send("0", #"{"type":"say","text":"\#(String(repeating: "x", count: 400))"}"#))
    other.send(subscribe("9"), request("1", "ping"))
    try await other.expect(sent("0", revision: 1), refused, answer("1"))
    #expect(!peer.isClosed && !other.isClosed)
  }

  @Test("a large message is sent in pieces to a client that reads, within the outbox limit")
  func pieces() async throws {
    var limits = ServerLimits()
    limits.outboxBytes = 700_000
    let peer = try await large(limits)
    peer.send(Self.state)
    try await peer.world.loop.turn()
    peer.goOnToTheEnd()
    #expect(peer.writes.count > 5 && peer.writes.allSatisfy { $0.count <= 300_000 })
    #expect(try await take(peer, 1)[0].contains("…"))
  }

  // Responses accumulated after the large one, and the server closed the client as a slow consumer
  // although it read.
  @Test("a client's messages wait until a large response has been sent")
  func pipelined() async throws {
    let peer = try await large()
    let pings = (1...200).map { request("\($0)", "ping") }
    peer.send(bytes: peer.bytes(of: [Self.state] + pings))
    try await peer.world.loop.turn()
    for _ in 0..<5 {
      #expect(peer.isYieldingToOthers && !peer.wantsBytes)
      #expect(peer.writes.last?.contains(UInt8(ascii: "\n")) == false)
      peer.goOn()
    }
    peer.goOnToTheEnd()
    let messages = try await take(peer, 201)
    #expect(messages[0].contains("…") && messages[200].contains(#""id":200,"#))
    #expect(peer.wantsBytes)
  }

  // Updates were written after the end of the response, and delayed updates came before them.
  @Test("during a large response, updates for the client are coalesced and sent after it")
  func updatesAfterResponse() async throws {
    let peer = try await large()
    peer.send(request("1", "session/open"), subscribe("2"))
    let opened = try JSONValue(parsing: try await take(peer, 2)[0])
    let handle = try #require(opened["result"]?["session"]?.string)
    let driver = Peer(peer.world)
    driver.send(
      request("1", "session/attach", "{\"session\":\"\(handle)\",\"revisions\":{}}"))
    peer.send(Self.state)
    try await peer.world.loop.turn()
    #expect(peer.isYieldingToOthers)
    driver.send(set("2", 7), set("3", 8), set("4", 9))
    // The presence notification of the driver comes first.
    let messages = try await turn(peer, until: 3)
    peer.goOnToTheEnd()
    #expect(messages.count == 3 && peer.takeMessages().isEmpty)
    #expect(messages[1].contains("…"))
    #expect(messages[2].contains(#""base":1,"revision":4,"#))
  }

  @Test("a client that is evicted during a large response gets all of it, and then the reason")
  func evicted() async throws {
    let peer = try await large()
    let name = #"{"frontend":"page"}"#
    peer.send(request("1", "session/open", name))
    let opened = try JSONValue(parsing: try await peer.messages(1)[0])
    let handle = try #require(opened["result"]?["session"]?.string)
    peer.send(Self.state)
    try await peer.world.loop.turn()
    #expect(peer.isYieldingToOthers)
    let other = Peer(peer.world)
    other.send(
      request(
        "1", "session/attach",
        "{\"session\":\"\(handle)\",\"frontend\":\"page\",\"revisions\":{}}"))
    #expect(peer.isClosed && !peer.isAbandoned)
    let messages = peer.takeMessages()
    #expect(messages.count == 2 && messages[1].contains(#""reason":"evicted""#))
  }

  @Test("updates with a large state are coalesced, and sent after a pause")
  func stateFormat() async throws {
    let peer = try await large()
    peer.send(
      request("1", "store/subscribe", #"{"store":"probe","format":"state"}"#),
      set("2", 1), set("3", 2))
    // Responses wait for the state that is being encoded.
    var messages = try await turn(peer, until: 4)
    #expect(messages[0].contains(#""id":1"#))
    #expect(messages[1].contains(#""base":1,"revision":3,"state":{"number":2,"text":"…"}"#))
    #expect(messages[2].contains(#""id":2"#) && messages[3].contains(#""id":3"#))
    peer.send(set("4", 3), set("5", 4))
    messages = try await turn(peer, until: 3)
    // The pause may or may not have ended by then.
    let last = try #require(messages.first { $0.contains("store/changed") })
    #expect(last.contains(#""base":3,"revision":5,"state":{"number":4,"text":"…"},"applied":5"#))
    // A response with the state is not older than the update before it.
    peer.send(set("6", 5), Self.state)
    messages = try await turn(peer, until: 3)
    #expect(
      messages.first { !$0.contains(#""id":6"#) }?.contains(#""base":5,"revision":6,"#) == true)
    #expect(messages[2].contains(#""id":9"#) && messages[2].contains(#""number":5"#))
    for number in 7...9 {
      peer.send(set("\(number)", number), Self.state)
      _ = try await turn(peer, until: 3)
    }
    #expect(peer.connection?.writer.largeChanges.count ?? 0 <= 1)
  }
}
