// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ServerCore

@Suite("Limit of buffered bytes", .timeLimit(.minutes(15)))
struct BufferTests {
  private static let limits = LifecycleTests.limits { $0.bufferBytes = 300_000 }
  private static let start = #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""#
  private static let end = #""}}"# + "\n"

  /// Returns a client that has sent a part of a frame.
  private func sending(_ bytes: Int, in world: World, _ framing: Framing = .lines) -> TestClient {
    let client = TestClient(world, framing, limits: Self.limits)
    let text = Self.start + String(repeating: "x", count: bytes)
    let header = framing == .headers ? "Content-Length: \(text.utf8.count + 3)\r\n\r\n" : ""
    client.send(bytes: Array((header + text).utf8))
    return client
  }

  @Test(
    "incomplete frames are skipped when the sum of all buffers exceeds the limit",
    arguments: Framing.allCases)
  func frames(_ framing: Framing) async throws {
    let world = World()
    var first: TestClient? = sending(200_000, in: world, framing)
    let second = sending(200_000, in: world, framing)
    let refused = failure("null", -32015, data: #"{"limit":"bufferBytes"}"#)
    try await second.expect(refused)
    // The rest of the frame is not a message.
    second.send(bytes: Array(Self.end.utf8))
    second.send(request("2", "ping"))
    try await second.expect(response("2"))
    // Small frames are still accepted.
    let third = sending(1000, in: world, framing)
    third.send(bytes: Array((Self.end).utf8))
    try await third.expect(response("1"))
    // Large frames are accepted again when there is space.
    first?.send(bytes: Array(Self.end.utf8))
    try await first?.expect(response("1"))
    let fourth = sending(200_000, in: world, framing)
    fourth.send(bytes: Array(Self.end.utf8))
    try await fourth.expect(response("1"))
    first = nil
    #expect(world.buffered == 0)
  }

  // The bytes were counted in the batch and in the outbox, and a client that read was closed.
  @Test("the responses of a batch are counted once")
  func batchOnce() async throws {
    let client = TestClient(limits: LifecycleTests.limits { $0.bufferBytes = 4_000_000 })
    let text = String(repeating: "x", count: 250_000)
    client.send(send("0", #"{"type":"say","text":"\#(text)"}"#))
    _ = try await client.messages(1)
    let states = (1...10).map { request("\($0)", "store/state", #"{"store":"probe"}"#) }
    client.send("[\(states.joined(separator: ","))]")
    try #require(!client.isClosed)
    let response = try JSONValue(parsing: try await client.messages(1)[0])
    #expect(response.array?.count == 10)
    #expect(response.array?.allSatisfy { $0["result"] != nil } == true)
  }

  @Test("a large response is refused at the limit of all buffers, and the connection stays open")
  func responses() async throws {
    let world = World()
    let limits = LifecycleTests.limits { $0.bufferBytes = 1_000_000 }
    let text = String(repeating: "x", count: 600_000)
    let (first, second) = (TestClient(world, limits: limits), TestClient(world, limits: limits))
    for client in [first, second] {
      client.send(send("0", #"{"type":"say","text":"\#(text)"}"#))
      _ = try await client.messages(1)
    }
    first.writing = { first.isCongested = true }
    first.send(subscribe("1"))
    try await world.loop.turn()
    first.writing = nil
    second.send(subscribe("1"), request("2", "ping"))
    try await second.expect(
      failure("1", -32015, data: #"{"limit":"bufferBytes"}"#), response("2"))
    first.catchUp()
    #expect(try await first.messages(1).first?.contains(text) == true)
    #expect(world.buffered == 0)
  }

  @Test("a client that has gone keeps no responses, although the effects of its requests continue")
  func gone() async throws {
    let world = World()
    let client = TestClient(world)
    let text = String(repeating: "x", count: 10_000)
    client.send(send("0", #"{"type":"say","text":"\#(text)"}"#), request("1", "session/open"))
    _ = try await client.messages(2)
    let state = request("2", "store/state", #"{"store":"probe"}"#)
    client.send("[\(state),\(state),\(send("3", #"{"type":"work","name":"long"}"#, settle: true))]")
    #expect(world.buffered > 10_000)
    client.tell(.disconnected)
    #expect(world.buffered == 0)
  }

  @Test("responses of a batch are refused at the limit of all buffers")
  func batches() async throws {
    let world = World()
    let holder = sending(250_000, in: world)
    let client = TestClient(world, limits: Self.limits)
    let text = String(repeating: "x", count: 60_000)
    client.send(send("0", #"{"type":"say","text":"\#(text)"}"#))
    _ = try await client.messages(1)
    let states = (1...3).map { request("\($0)", "store/state", #"{"store":"probe"}"#) }
    client.send("[\(states.joined(separator: ","))]", request("4", "ping"))
    let messages = try await client.messages(2)
    #expect(messages[0].contains(#""id":1,"result":"#))
    #expect(messages[0].contains(#""id":3,"error":{"code":-32015,"#))
    #expect(messages[0].contains(#""limit":"bufferBytes""#))
    #expect(messages[1].contains(#""id":4,"result""#))
    withExtendedLifetime(holder) {}
  }
}

extension World {
  /// The number of counted bytes.
  fileprivate var buffered: Int {
    shard.assumeIsolated { ($0.common as? SharedCaches)?.buffers.all.bytes ?? 0 }
  }
}
