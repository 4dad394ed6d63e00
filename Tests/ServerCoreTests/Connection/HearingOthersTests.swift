// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ServerCore

/// A peer whose messages take so long that others are heard in between: here each look at the clock, behind a
/// message, costs one and a half of the four milliseconds that a turn may go on.
@Suite("Hearing others", .timeLimit(.minutes(5)))
struct HearingOthersTests {
  private let world = World()
  private let peer: Peer

  init() { peer = Peer(world, now: PassingTime(.microseconds(1_500)).now) }

  @Test("messages that came together are carried out in several turns, in order")
  func messages() async throws {
    peer.send(bytes: peer.bytes(of: (1...7).map { request("\($0)", "ping") }))
    try await peer.expect(answer("1"), answer("2"), answer("3"))
    #expect(peer.isHearingOthers && !peer.wantsBytes && !peer.isAtRest)

    let other = Peer(world)
    other.send(set("1", 1))
    try await other.expect(sent("1", revision: 1))
    peer.expectNothing()

    peer.goOn()
    try await peer.expect(answer("4"), answer("5"), answer("6"))
    #expect(peer.isHearingOthers && !peer.wantsBytes)
    let before = peer.wantedAgain
    peer.goOn()
    try await peer.expect(answer("7"))
    #expect(!peer.isHearingOthers && peer.wantsBytes && peer.isAtRest)
    #expect(peer.wantedAgain == before + 1)
  }

  @Test("a batch is carried out in several turns, and answered as one before what comes behind it")
  func batch() async throws {
    let requests = (1...7).map { set("\($0)", $0) }
    peer.send("[\(requests.joined(separator: ","))]", request("8", "ping"))
    peer.expectNothing()
    #expect(!peer.wantsBytes && !peer.isAtRest)
    let other = Peer(world)
    other.send(request("1", "ping"))
    try await other.expect(answer("1"))

    peer.goOn()
    peer.expectNothing()
    // Came before it was known that bytes are not wanted.
    peer.send(request("9", "ping"))
    peer.expectNothing()
    peer.goOn()
    let answers = (1...7).map { sent("\($0)", revision: $0) }
    try await peer.expect(
      "[\(answers.joined(separator: ","))]", answer("8"), answer("9"))
    peer.goOnToTheEnd()
    #expect(!peer.isHearingOthers && peer.wantsBytes && peer.isAtRest)
  }

  @Test("inputs that come as those before them ask for the time once in sixteen")
  func inputs() async throws {
    let peer = Peer(world, now: PassingTime(.milliseconds(5)).now)
    peer.send(set("0", 1000))
    try await peer.expect(sent("0", revision: 1))
    peer.goOn()
    peer.send(bytes: peer.bytes(of: (1...64).map { set("\($0)", $0) }))
    // The one before was the first message: the clock is looked at behind the 16th and the 32nd.
    try await peer.expect(all: (1...31).map { sent("\($0)", revision: $0 + 1) })
    peer.goOn()
    try await peer.expect(all: (32...63).map { sent("\($0)", revision: $0 + 1) })
    peer.goOn()
    try await peer.expect(sent("64", revision: 65))
    #expect(!peer.isHearingOthers)
  }

  @Test("what waits is still carried out when input ends, and the connection closes behind it")
  func end() async throws {
    peer.send(bytes: peer.bytes(of: (1...5).map { request("\($0)", "ping") }))
    peer.send(
      "[\((6...9).map { request("\($0)", "ping") }.joined(separator: ","))]")
    peer.tell(.inputEnded)
    peer.tell(.timeIsUp)
    try await peer.expect(answer("1"), answer("2"), answer("3"))
    #expect(!peer.isClosed)
    peer.goOn()
    try await peer.expect(answer("4"), answer("5"))
    #expect(!peer.isClosed)
    peer.goOn()
    try await peer.expect("[\((6...9).map { answer("\($0)") }.joined(separator: ","))]")
    #expect(peer.isClosed && !peer.isAbandoned)
  }

  @Test(
    "a peer that does not read has what waits carried out once it has read, and others were heard")
  func congestion() async throws {
    peer.writing = { [unowned peer] in peer.isCongested = true }
    peer.send(
      "[\((1...4).map { request("\($0)", "ping") }.joined(separator: ","))]",
      request("5", "ping"), request("6", "ping"), request("7", "ping"))
    peer.goOn()
    peer.writing = nil
    #expect(peer.isCongested)
    peer.catchUp()
    peer.goOnToTheEnd()
    try await peer.expect(
      "[\((1...4).map { answer("\($0)") }.joined(separator: ","))]", answer("5"), answer("6"),
      answer("7"))
    #expect(peer.wantsBytes && peer.isAtRest)
  }

  @Test("a frontend that loses its place while others are heard does nothing more")
  func evicted() async throws {
    peer.send(request("\"o\"", "session/open", #"{"frontend":"page"}"#))
    let opened = try JSONValue(parsing: Array(try await peer.messages(1)[0].utf8))
    let handle = try #require(opened.object?["result"]?.object?["session"]?.string)
    peer.send("[\((1...6).map { set("\($0)", $0) }.joined(separator: ",")),\(subscribe("7"))]")
    #expect(peer.isHearingOthers)
    let other = Peer(world)
    other.send(
      request("1", "session/attach", "{\"session\":\"\(handle)\",\"frontend\":\"page\"}"))
    _ = try await other.messages(1)
    #expect(peer.isClosed)
    _ = peer.takeMessages()
    peer.goOn()
    peer.expectNothing()
    peer.tell(.disconnected)
    other.send(subscribe("2"), set("3", 100))
    try await other.expect(
      answer("2", #"{"revision":3,"state":{"number":3,"text":""}}"#),
      changed(3, 4, number: 100, applied: "3"), sent("3", revision: 4))
  }

  @Test("a peer that is gone leaves nothing behind")
  func gone() {
    peer.send("[\((1...9).map { set("\($0)", $0) }.joined(separator: ","))]", set("10", 10))
    #expect(peer.isHearingOthers)
    peer.tell(.disconnected)
    peer.goOn()
    peer.expectNothing()
    #expect(!peer.isHearingOthers && peer.isAtRest && !peer.isClosed)
  }
}
