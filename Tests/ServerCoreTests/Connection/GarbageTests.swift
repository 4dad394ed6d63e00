// SPDX-License-Identifier: Apache-2.0

import Sessions
import Testing

@testable import ServerCore

/// Random input from a client causes at most an error for that input.
@Suite("Random input", .timeLimit(.minutes(15)))
struct GarbageTests {
  static let messages = [
    subscribe("1"), set("2", 3), send("\"x\"", #"{"type":"count","steps":3}"#), work("4", "a"),
    request("5", "store/open", #"{"store":"t","kind":"todo","config":{"memory":{"count":3}}}"#),
    request("6", "store/subscribe", #"{"store":"todo","format":"state"}"#),
    send("7", #"{"type":"todoAdded","title":"Milk \ud83d\ude00"}"#, to: "todo"),
    request("8", "store/close", #"{"store":"probe"}"#), cancel("4"), request("9", "initialize"),
    "[\(set("10", 1)),\(work("11", "b")),1,\(notification("ping"))]", "[]", "null",
    request("12", "store/state", #"{"store":"todo"}"#),
  ]

  /// Returns a message of which some bytes are changed.
  private func damaged(_ message: String, _ random: inout FixedNumbers) -> [UInt8] {
    var bytes = Array(message.utf8)
    for _ in 0..<Int.random(in: 0..<4, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[index] = .random(in: 0...255, using: &random)
      case 1: bytes.remove(at: index)
      case 2:
        bytes.insert(Array("{}[]\",:\\0-e".utf8).randomElement(using: &random) ?? 0, at: index)
      default: bytes.removeSubrange(index..<min(index + 9, bytes.count))
      }
    }
    return bytes
  }

  @Test("a damaged message causes only its own error", arguments: 0..<20)
  func damaged(_ seed: UInt64) async throws {
    var random = FixedNumbers(seed: seed)
    let framing: Framing = seed.isMultiple(of: 2) ? .lines : .headers
    let client = TestClient(World(), framing)
    client.send(request("0", "ping"))
    _ = client.takeMessages()
    for round in 0..<100 {
      let message = try #require(Self.messages.randomElement(using: &random))
      var bytes = damaged(message, &random)
      if framing == .lines { bytes.removeAll { $0 == 0x0A } }
      client.send(bytes: FrameWriter(framing: framing).frame(bytes))
      client.send(request("\"round \(round)\"", "ping"))
      let last = try #require(client.takeMessages().last)
      #expect(try Message(last) == Message(expected: response("\"round \(round)\"")))
    }
  }

  @Test("the split of the stream into chunks makes no difference", arguments: 0..<10)
  func cuts(_ seed: UInt64) async throws {
    var random = FixedNumbers(seed: seed)
    let framing: Framing = seed.isMultiple(of: 2) ? .lines : .headers
    let whole = TestClient(World(), framing)
    let cut = TestClient(World(), framing)
    let first = whole.bytes(of: [request("0", "ping")])
    let stream =
      first
      + Self.messages.flatMap {
        var bytes = damaged($0, &random)
        if framing == .lines { bytes.removeAll { $0 == 0x0A } }
        return FrameWriter(framing: framing).frame(bytes)
      }
    whole.send(bytes: stream)
    var rest = stream[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...20, using: &random)
      cut.send(bytes: Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    #expect(whole.takeMessages() == cut.takeMessages())
  }

  @Test("events in any order end in a closed connection", arguments: 0..<50)
  func events(_ seed: UInt64) async throws {
    var random = FixedNumbers(seed: seed)
    var limits = ServerLimits()
    limits.outboxBytes = 4000
    limits.openRequests = 5
    let client = TestClient(World(), seed.isMultiple(of: 2) ? .lines : .headers, limits: limits)
    for _ in 0..<100 {
      switch Int.random(in: 0..<40, using: &random) {
      case 0: client.tell(.inputEnded)
      case 1: client.send(bytes: [.random(in: 0...255, using: &random), 0x0A])
      case 2...5: client.isCongested = true
      case 6...10: client.catchUp()
      case 11...14:
        client.world.orders.tell("a", .set(.random(in: 0...9, using: &random)))
      case 15: client.world.loop.runAll()
      default:
        client.send(try #require(Self.messages.randomElement(using: &random)))
      }
      if client.isClosed { #expect(!client.wantsBytes) }
    }
    client.catchUp()
    client.tell(.timeIsUp)
    #expect(client.isClosed)
    client.tell(.disconnected)
    client.world.loop.runAll()
  }
}
