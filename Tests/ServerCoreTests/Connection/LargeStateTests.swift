// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import Delivery
@testable import ServerCore

/// States that take long to write.
@Suite("Large states", .timeLimit(.minutes(5)))
struct LargeStateTests {
  private static let text = String(repeating: "x", count: 600_000)
  private static let state = request("9", "store/state", #"{"store":"probe"}"#)

  /// A peer in a session whose probe has a large state.
  private func large(_ limits: ServerLimits = .init()) async throws
    -> Peer
  {
    let peer = Peer(limits: limits)
    peer.send(send("0", #"{"type":"say","text":"\#(Self.text)"}"#))
    _ = try await peer.messages(1)
    return peer
  }

  /// What comes, with the text left out.
  private func take(_ peer: Peer, _ count: Int) async throws -> [String] {
    try await peer.messages(count).map { $0.replacing(Self.text, with: "…") }
  }

  /// Turns the loop until so many messages have come.
  private func turn(_ peer: Peer, until count: Int) async throws -> [String] {
    var messages = peer.takeMessages()
    while messages.count < count {
      if peer.isYieldingToOthers { peer.goOn() } else { try await peer.world.loop.turn() }
      messages += peer.takeMessages()
    }
    return messages.map { $0.replacing(Self.text, with: "…") }
  }

  @Test("an answer to a batch is written elsewhere, and the next request of the batch waits for it")
  func batch() async throws {
    let peer = try await large()
    peer.send("[\(Self.state),\(set("1", 5)),\(subscribe("2"))]", request("3", "ping"))
    // Without a turn of the loop, in which the answer may have been written already.
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

  @Test("a batch that is written elsewhere for a peer that is gone is nobody's")
  func batchForNobody() async throws {
    let peer = try await large()
    peer.send("[\(Self.state),\(set("1", 5))]")
    peer.tell(.disconnected)
    try await peer.world.loop.turn()
    peer.expectNothing()
  }

  @Test(
    "the answer to session/attach is written elsewhere, and frames that come after it keep their place"
  )
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
    // Without a turn of the loop: found by the thread sanitizer, the answer had been written by then, and the
    // test waited for it.
    #expect(second.takeMessages().isEmpty)
    let messages = try await take(second, 3)
    #expect(messages[0].contains(#""snapshot":{"revision":1,"state":{"number":0,"text":"…"}}"#))
    #expect(messages[1].contains(#""base":1,"revision":2"#) && messages[2].contains(#""id":2"#))
  }

  @Test("a result that is longer than may wait is refused, and the connection lives")
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
    // What is written in the turn is measured as well.
    limits.outboxBytes = 300
    let other = Peer(limits: limits)
    other.send(send("0", #"{"type":"say","text":"\#(String(repeating: "x", count: 400))"}"#))
    other.send(subscribe("9"), request("1", "ping"))
    try await other.expect(sent("0", revision: 1), refused, answer("1"))
    #expect(!peer.isClosed && !other.isClosed)
  }

  @Test("a large frame goes out in pieces to a peer that reads, whatever may wait")
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

  // Responses to them piled up behind the large one, and a client that read was closed as one that does not.
  @Test("what a client sends waits until a large response has been sent")
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

  // They were written behind the rest of the response, and what was put off later came before them.
  @Test("updates for a client that is being sent a large response are coalesced behind it")
  func updatesBehind() async throws {
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
    // The presence of the driver comes first.
    let messages = try await turn(peer, until: 3)
    peer.goOnToTheEnd()
    #expect(messages.count == 3 && peer.takeMessages().isEmpty)
    #expect(messages[1].contains("…"))
    #expect(messages[2].contains(#""base":1,"revision":4,"#))
  }

  @Test("a client that is evicted in the middle of a large response gets all of it, and the reason")
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

  @Test(
    "changes of a large state that is wanted as a whole are merged, and the state waits for a pause"
  )
  func stateFormat() async throws {
    let peer = try await large()
    peer.send(
      request("1", "store/subscribe", #"{"store":"probe","format":"state"}"#),
      set("2", 1), set("3", 2))
    // What is sent meanwhile waits for the state that is being written.
    var messages = try await turn(peer, until: 4)
    #expect(messages[0].contains(#""id":1"#))
    #expect(messages[1].contains(#""base":1,"revision":3,"state":{"number":2,"text":"…"}"#))
    #expect(messages[2].contains(#""id":2"#) && messages[3].contains(#""id":3"#))
    peer.send(set("4", 3), set("5", 4))
    messages = try await turn(peer, until: 3)
    // Whether the pause is over by then is not known.
    let last = try #require(messages.first { $0.contains("store/changed") })
    #expect(last.contains(#""base":3,"revision":5,"state":{"number":4,"text":"…"},"applied":5"#))
    // An answer with the state says nothing older than the frame before it.
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
