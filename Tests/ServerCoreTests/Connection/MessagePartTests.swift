// SPDX-License-Identifier: Apache-2.0

import Delivery
import Testing
import Wire

@testable import ServerCore

/// Messages of another node, which are passed on in the parts in which they arrive.
@Suite("Parts of messages")
struct MessagePartTests {
  private static let message = #"{"jsonrpc":"2.0","method":"store/closed","params":{}}"#

  private func write(_ part: Substring.UTF8View, to client: TestClient) throws {
    // because the test is the loop: nothing else runs on the shard.
    nonisolated(unsafe) let connection = try #require(client.connection)
    let whole = Self.message.utf8
    client.world.shard.assumeIsolated { shard in
      shard.turn {
        Array(part).withUnsafeBytes {
          connection.writer.write(
            part: $0, of: whole.count, isFirst: part.startIndex == whole.startIndex,
            isLast: part.endIndex == whole.endIndex)
        }
      }
    }
  }

  // A response to a request in a session that the client had left came in the middle of the message.
  @Test("whole messages follow the last part", arguments: [Framing.lines, .headers])
  func wholeMessages(framing: Framing) async throws {
    let client = TestClient(World(), framing)
    client.send(request("1", "ping"))
    try await client.expect(response("1"))
    let (bytes, wholeMessage) = (Self.message.utf8, Self.message)
    try write(bytes.prefix(10), to: client)
    client.send(request("2", "ping"))
    try write(bytes.dropFirst(10).prefix(10), to: client)
    client.send(request("3", "ping"))
    try write(bytes.dropFirst(20), to: client)
    client.send(request("4", "ping"))
    let messages = try await client.messages(4)
    #expect(messages.first == wholeMessage)
    #expect(messages.dropFirst().map { $0.contains("\"result\"") } == [true, true, true])
  }

  // Its arrays went before the last part.
  @Test(
    "the responses to a batch with a large one follow the last part",
    arguments: [Framing.lines, .headers])
  func batch(framing: Framing) async throws {
    let client = TestClient(World(), framing)
    let text = String(repeating: "x", count: 600_000)
    client.send(send("1", #"{"type":"say","text":"\#(text)"}"#))
    _ = try await client.messages(1)
    let (bytes, wholeMessage) = (Self.message.utf8, Self.message)
    try write(bytes.prefix(10), to: client)
    client.send("[\(request("2", "store/state", #"{"store":"probe"}"#)),\(request("3", "ping"))]")
    while !client.isIdle { try await client.world.loop.turn() }
    try write(bytes.dropFirst(10), to: client)
    let messages = try await client.messages(2)
    #expect(messages.first == wholeMessage)
    #expect(messages.last?.hasPrefix(#"[{"jsonrpc":"2.0","id":2,"result""#) == true)
    #expect(messages.last?.hasSuffix(#"{"jsonrpc":"2.0","id":3,"result":{}}]"#) == true)
  }

  // The responses that it had not read were discarded, and the other node got no end of the link.
  @Test("the link of a client that reads slowly ends after its responses")
  func slowReader() throws {
    let client = TestClient(World(), .headers)
    client.connection?.nodeClient = NodeClient(evictionEnd: .now)
    client.isCongested = true
    client.send(request("1", "ping"))
    client.tell(.inputEnded)
    #expect(client.isClosed && !client.isAbandoned)
    let messages = client.takeMessages()
    #expect(messages.count == 2 && messages[0].contains("\"result\"") && messages[1] == ".")
  }

  // They were in no account and had no limit.
  @Test(
    "responses that follow the last part count towards the limit of the client",
    arguments: [false, true])
  func limit(isCongested: Bool) throws {
    var limits = ServerLimits()
    limits.outboxBytes = 1 << 20
    let client = TestClient(limits: limits)
    client.send(request("1", "ping"))
    _ = client.takeMessages()
    client.isCongested = isCongested
    try write(Self.message.utf8.prefix(10), to: client)
    // because the test is the loop: nothing else runs on the shard.
    nonisolated(unsafe) let connection = try #require(client.connection)
    let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)
    for count in 1...6 {
      client.world.shard.assumeIsolated { shard in
        shard.turn { connection.write(messages: bytes, isolation: shard) }
      }
      #expect(client.isClosed == (count == 6))
    }
    client.discardReceived()
  }

  @Test("a client that has received a part gets no error in the middle of it")
  func noError() throws {
    for event in [Connection.Event.databaseIsGone(isLong: true), .refused(.idleTime)] {
      let client = TestClient()
      client.send(request("1", "ping"))
      _ = client.takeMessages()
      let writes = client.writes.count
      try write(Self.message.utf8.prefix(10), to: client)
      client.tell(event)
      #expect(client.isClosed)
      #expect(client.writes.dropFirst(writes).map(\.count) == [10])
      client.discardReceived()
    }
  }
}
