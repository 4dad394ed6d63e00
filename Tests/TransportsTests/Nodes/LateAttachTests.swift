// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import JournalTestSupport
import ServerCore
import StateMachines
import TestSupport
import Testing
import TransportTestSupport
import Transports

// A client sent session/attach to a node that a partition had cut off from the node of the session.
// It gave the connection up and attached over another node. After the partition, the first request
// arrived, and evicted the new connection.
@Suite("Requests to attach that arrive late", .timeLimit(.minutes(15)))
struct LateAttachTests {
  /// A clock that a test moves.
  private final class Clock: Sendable {
    private let offset = Lock(Duration.zero)
    var now: @Sendable () -> ContinuousClock.Instant { { [self] in .now + offset.withLock { $0 } } }
    func advance() { offset.withLock { $0 += .seconds(2) } }
  }

  private struct Nodes {
    let (a, b): (TestNode, TestNode)
    /// From a to b.
    let line: HeldLine
    let (clockOfA, clockOfB): (Clock, Clock)
    let session: SessionHandle
  }

  /// Runs `body` with a session on b.
  private func withNodes(shards: Int, _ body: (Nodes) async throws -> Void) async throws {
    let (cluster, clocks) = (MemoryCluster(), (Clock(), Clock()))
    let a = try await TestNode.start("a", in: cluster, shards: shards, now: clocks.0.now)
    let b = try await TestNode.start("b", in: cluster, shards: shards, now: clocks.1.now)
    guard case .tcp(_, let port) = b.server.addresses[0] else { return }
    let line = try await HeldLine.open(to: port)
    b.node.setAddress("\(line.address)")
    let owner = try await b.client()
    let session = try await owner.open("owner")
    try await body(
      Nodes(
        a: a, b: b, line: line, clockOfA: clocks.0, clockOfB: clocks.1, session: session))
    await owner.close()
    for node in [a, b] { await node.server.stop() }
    try await line.close()
  }

  private func expectServed(_ client: ShardClient) async throws {
    #expect(try await client.call("ping").contains("{}"))
    #expect(await !client.takeNotifications().contains { $0.contains("evicted") })
  }

  @Test("a client that has gone does not evict its next connection", arguments: [1, 2])
  func gone(shards: Int) async throws {
    try await withNodes(shards: shards) { nodes in
      let other = try await nodes.a.client()
      nodes.line.hold(after: 0)
      let gone = try await nodes.a.client()
      _ = try await gone.call("ping")
      try await gone.send("session/attach", ShardClient.attaching(nodes.session, "page"))
      await eventually("the request is held") { nodes.line.heldCount > 0 }
      await gone.close()
      for _ in 1...3 { _ = try await other.call("ping") }
      let page = try await nodes.b.client()
      #expect(try await page.attach(nodes.session, as: "page").contains("stores"))
      nodes.line.release()
      await eventually("the request has ended") { nodes.line.connectionCount == 0 }
      try await expectServed(page)
      for client in [other, page] { await client.close() }
    }
  }

  @Test(
    "an old request evicts no newer connection, and another one does",
    arguments: [1, 2], [0, 1])
  func old(shards: Int, passed: Int) async throws {
    try await withNodes(shards: shards) { nodes in
      nodes.line.hold(after: passed)
      let cutOff = try await nodes.a.client()
      let id = try await cutOff.send(
        "session/attach", ShardClient.attaching(nodes.session, "page"))
      await eventually("the request is held") { nodes.line.heldCount > 0 }
      let page = try await nodes.b.client()
      #expect(try await page.attach(nodes.session, as: "page").contains("stores"))
      // Either the first node waits long for the other one, or the request is long on its way.
      (passed == 0 ? nodes.clockOfA : nodes.clockOfB).advance()
      nodes.line.release()
      let response = try #require(try await cutOff.receive())
      #expect(response.contains("\"id\":\(id),\"error\":{\"code\":-32603"))
      #expect(response.contains("attach again"))
      try await expectServed(page)
      #expect(try await cutOff.attach(nodes.session, as: "page").contains("stores"))
      #expect(try await page.receive()?.contains("evicted") == true)
      for client in [cutOff, page] { await client.close() }
    }
  }

  @Test("an old request whose name is free attaches")
  func free() async throws {
    try await withNodes(shards: 1) { nodes in
      nodes.line.hold(after: 0)
      let client = try await nodes.a.client()
      try await client.send("session/attach", ShardClient.attaching(nodes.session, "page"))
      await eventually("the request is held") { nodes.line.heldCount > 0 }
      nodes.clockOfA.advance()
      nodes.line.release()
      #expect(try await client.receive()?.contains("stores") == true)
      await client.close()
    }
  }
}
