// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import JournalTestSupport
import ServerCore
import TestSupport
import Testing
import TransportTestSupport
import Transports

@Suite("Sessions of another node", .timeLimit(.minutes(15)))
struct NodeTests {
  enum Listener: CaseIterable {
    case tcp, web
  }

  private static let web = ServerAddress.web(host: "127.0.0.1", port: 0)

  @Test(
    "a client attaches through either node, and both see each other's updates",
    arguments: Listener.allCases, [1, 2])
  func attaching(_ listener: Listener, shards: Int) async throws {
    try await withNodes(shards: shards, more: [Self.web]) { a, b, cluster in
      let index = listener == .tcp ? 0 : 1
      let owner = try await b.client(index)
      let session = try await owner.open("owner")
      #expect(cluster.owner(of: session) == "b")
      _ = try await owner.call("store/subscribe", #"{"store":"tally"}"#)
      _ = try await owner.add(1)
      for _ in 0..<shards {
        let guest = try await a.client(index)
        // Something of its former session.
        _ = try await guest.add(5)
        let attached = try await guest.attach(session, as: "guest", revisions: #"{"tally":null}"#)
        #expect(attached.contains(#""snapshot":{"revision":"#))
        let added = try await guest.add(10)
        #expect(added.contains(#""changed":true"#))
        let updates = await guest.takeNotifications()
        #expect(updates.count == 1 && updates[0].contains("store/changed"))
        _ = try await owner.add(100)
        let state = try await guest.state()
        #expect(state == (try await owner.state()).replacing(/"id":\d+/, with: id(of: state)))
        await guest.close()
        while true {
          let message = try #require(try await owner.receive())
          if message.contains("detached") { break }
        }
      }
      #expect(cluster.owner(of: session) == "b" && cluster.epoch(of: session) == 1)
      // The guest continues over another connection, and receives the updates that it has missed.
      let revision = shards * 2 + 1
      _ = try await owner.add(1)
      let again = try await a.client(index)
      let replayed = try await again.attach(
        session, as: "guest", revisions: "{\"tally\":\(revision)}")
      #expect(replayed.contains(#""replayed":1"#))
      let update = try #require(try await again.receive())
      #expect(update.contains("\"revision\":\(revision + 1)"))
      await again.close()
      await owner.close()
    }
  }

  // Only the node of the present session got the cancellation, and it does not know the request.
  @Test("a client cancels a request in a session that it has left for one of another node")
  func cancelling() async throws {
    try await withNodes(shards: 2) { a, b, _ in
      let owner = try await b.client()
      let session = try await owner.open("owner")
      for isInBatch in [false, true] {
        let client = try await a.client()
        _ = try await client.open("client")
        let waiting = try await client.send(
          "store/send", #"{"store":"tally","input":{"type":"waited"},"settle":true}"#)
        _ = try await client.attach(session, as: "client")
        let cancel =
          #"{"jsonrpc":"2.0","id":99,"method":"$/cancelRequest","params":{"id":\#(waiting)}}"#
        try await client.connection.send(isInBatch ? "[\(cancel)]" : cancel)
        let cancelled = try await client.response()
        #expect(cancelled.contains("\"id\":\(waiting),") && cancelled.contains("-32800"))
        #expect(try await client.response().contains("\"id\":99,\"result\""))
        #expect(try await client.state().contains("sum"))
        await client.close()
      }
      await owner.close()
    }
  }

  private func id(of response: String) -> String {
    String(response.firstMatch(of: /"id":\d+/)?.output ?? "")
  }

  @Test("messages after session/attach are carried out in order, and no input twice")
  func pipelining() async throws {
    try await withNodes { a, b, _ in
      let owner = try await b.client()
      let session = try await owner.open("owner")
      let guest = try await a.client()
      let count = 500
      var messages = [("ping", "{}"), ("session/attach", ShardClient.attaching(session, "guest"))]
      for sequence in 1...count {
        messages.append(("store/send", ShardClient.adding(1, sequence: sequence)))
      }
      try await guest.send(together: messages)
      for id in 1...(count + 2) {
        #expect(try await guest.response().contains("\"id\":\(id),"))
      }
      await guest.close()
      let again = try await a.client()
      try await again.send(together: Array(messages.dropFirst()))
      #expect(try await again.response().contains("\"sequence\":\(count)"))
      for _ in 1...count { _ = try await again.response() }
      #expect(try await again.state().contains(#""sum":500"#))
      await again.close()
      await owner.close()
    }
  }

  @Test("unknown, ended and foreign sessions have the same errors as on one node")
  func errors() async throws {
    try await withNodes { a, b, _ in
      let owner = try await b.client()
      let session = try await owner.open("owner")
      _ = try await owner.call("session/close")
      let guest = try await a.client()
      _ = try await guest.add(7)
      #expect(try await guest.attach(session, as: "guest").contains("-32013"))
      let unknown = try #require(SessionHandle(String(repeating: "0", count: 32)))
      #expect(try await guest.attach(unknown, as: "guest").contains("-32012"))
      #expect(try await guest.call("session/attach", #"{"session":"x"}"#).contains("-32012"))
      // An error of the node of the session.
      let other = try await owner.open("owner")
      let refused = try await guest.attach(other, as: "guest", revisions: #"{"nothing":null}"#)
      #expect(refused.contains("-32010"))
      // The guest has kept its session.
      #expect(try await guest.state().contains(#""sum":7"#))
      #expect(try await guest.attach(other, as: "guest").contains("stores"))
      #expect(try await guest.state().contains(#""sum":0"#))
      await guest.close()
      await owner.close()
    }
  }

  @Test("a session that sleeps is given up, and wakes on the node of the client that attaches")
  func sleeping() async throws {
    let cluster = MemoryCluster()
    var limits = SessionLimits()
    limits.sleepAfter = .zero
    let a = try await TestNode.start("a", in: cluster, sessionLimits: limits)
    let b = try await TestNode.start("b", in: cluster)
    let owner = try await a.client()
    let session = try await owner.open("owner")
    _ = try await owner.add(7)
    await owner.close()
    await eventually("the session is given up") { cluster.owner(of: session) == nil }
    let again = try await b.client()
    #expect(try await again.attach(session, as: "owner").contains("stores"))
    #expect(try await again.state().contains(#""sum":7"#))
    #expect(cluster.owner(of: session) == "b" && cluster.epoch(of: session) == 2)
    await again.close()
    for node in [a, b] { await node.server.stop() }
    #expect(cluster.conflicts == [])
  }

  @Test("a client of the same name evicts one on another node", arguments: Listener.allCases)
  func eviction(_ listener: Listener) async throws {
    try await withNodes(more: [Self.web]) { a, b, _ in
      let index = listener == .tcp ? 0 : 1
      let first = try await b.client(index)
      let session = try await first.open("page")
      let second = try await a.client(index)
      _ = try await second.attach(session, as: "page")
      let third = try await a.client(index)
      _ = try await third.attach(session, as: "page")
      for evicted in [first, second] {
        let notice = try #require(try await evicted.receive())
        #expect(notice.contains("session/closed") && notice.contains("evicted"))
        #expect(try await evicted.receive() == nil)
        await evicted.close()
      }
      #expect(try await third.call("ping").contains("{}"))
      await third.close()
    }
  }

  @Test(
    "updates for a relayed client that does not read are coalesced", arguments: Listener.allCases)
  func slowConsumer(_ listener: Listener) async throws {
    try await withNodes(more: [Self.web]) { a, b, _ in
      let owner = try await b.client()
      let session = try await owner.open("owner")
      let slow = try await a.client(listener == .tcp ? 0 : 1)
      _ = try await slow.attach(session, as: "slow", revisions: #"{"tally":null}"#)
      let count = 600
      for number in 1...count {
        let letter = number.isMultiple(of: 2) ? "a" : "b"
        let response = try await owner.call(
          "store/send",
          #"{"store":"tally","input":{"type":"filled","letter":"\#(letter)","count":100000}}"#)
        #expect(response.contains("\"revision\":\(number)"))
      }
      var updates = 0
      var last = ""
      while !last.contains("\"revision\":\(count)") {
        last = try #require(try await slow.receive())
        updates += 1
      }
      #expect(updates < count / 2)
      #expect(try await slow.call("ping").contains("{}"))
      await slow.close()
      await owner.close()
    }
  }

  @Test("a relayed client that does not read its responses is not read from")
  func backPressure() async throws {
    try await withNodes { a, b, _ in
      let owner = try await b.client()
      let session = try await owner.open("owner")
      _ = try await owner.call(
        "store/send", #"{"store":"tally","input":{"type":"filled","letter":"a","count":50000}}"#)
      let slow = try await a.client()
      _ = try await slow.attach(session, as: "slow")
      let count = 2000
      let requests = Array(repeating: ("store/state", #"{"store":"tally"}"#), count: count)
      async let sent: Void = slow.send(together: requests)
      #expect(try await owner.call("ping").contains("{}"))
      for id in 2...(count + 1) {
        #expect(try await slow.response().hasPrefix("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\""))
      }
      try await sent
      await slow.close()
      await owner.close()
    }
  }

  @Test("an error of a frame is in order with the responses of the other node")
  func faults() async throws {
    try await withNodes { a, b, _ in
      let owner = try await b.client()
      let session = try await owner.open("owner")
      let guest = try await a.client()
      _ = try await guest.attach(session, as: "guest")
      let large = String(repeating: "x", count: 2 << 20)
      try await guest.connection.send(raw: Array("\(ping)\n\(large)\n\(ping)\n".utf8))
      #expect(try await guest.receive() == pong)
      #expect(try await guest.connection.receiveLimit() == "frameBytes")
      #expect(try await guest.receive() == pong)
      await guest.close()
      await owner.close()
    }
  }

  @Test("nodes reach each other over TLS")
  func tls() async throws {
    let certificates = try TestCertificates()
    try await withNodes(
      .tls(host: "127.0.0.1", port: 0), certificate: try certificates.server(),
      authority: certificates.file("ca.pem")
    ) { a, b, _ in
      let owner = try await b.client(trust: certificates.trust())
      let session = try await owner.open("owner")
      let guest = try await a.client(trust: certificates.trust())
      _ = try await guest.attach(session, as: "guest")
      #expect(try await guest.add(3).contains(#""revision":1"#))
      #expect(try await owner.state().contains(#""sum":3"#))
      await guest.close()
      await owner.close()
    }
  }

  @Test("a node with another secret is refused, and the client hears it in time")
  func secret() async throws {
    let cluster = MemoryCluster()
    let a = try await TestNode.start(
      "a", in: cluster, secret: NodeSecret("another secret".replacing(" ", with: "-") + "-long"))
    let b = try await TestNode.start("b", in: cluster)
    let owner = try await b.client()
    let session = try await owner.open("owner")
    let guest = try await a.client()
    #expect(try await guest.attach(session, as: "guest").contains("-32603"))
    #expect(try await guest.call("ping").contains("{}"))
    // Clients cannot use the method.
    let refused = try await guest.call("node/relay", #"{"secret":"x","request":"{}"}"#)
    #expect(refused.contains("-32016"))
    await guest.close()
    await owner.close()
    for node in [a, b] { await node.server.stop() }
  }

  @Test("after the death of a node, another one continues its sessions with the same handle")
  func takeover() async throws {
    try await withNodes(shards: 2) { a, b, cluster in
      let owner = try await b.client()
      let session = try await owner.open("owner")
      for sequence in 1...5 { _ = try await owner.add(1, sequence: sequence) }
      let guest = try await a.client()
      _ = try await guest.attach(session, as: "guest", revisions: #"{"tally":null}"#)
      // While b has the lease, the guest waits; it attaches when the lease is over.
      b.lose()
      for client in [owner, guest] { while try await client.receive() != nil {} }
      let again = try await a.client()
      let attached = try await again.attach(session, as: "owner", revisions: #"{"tally":5}"#)
      #expect(attached.contains(#""sequence":5"#))
      _ = try await again.add(1, sequence: 5)
      #expect(try await again.add(1, sequence: 6).contains("\"revision\":"))
      #expect(try await again.state().contains(#""sum":6"#))
      #expect(cluster.owner(of: session) == "a" && cluster.epoch(of: session) == 2)
      for client in [owner, guest, again] { await client.close() }
    }
  }

  @Test("a client that has gone while its session was looked up does not evict another one")
  func late() async throws {
    try await withNodes { a, b, cluster in
      let owner = try await b.client()
      let session = try await owner.open("page")
      let other = try await a.client()
      let release = cluster.hold()
      let gone = try await a.client()
      _ = try await gone.call("ping")
      try await gone.send("session/attach", ShardClient.attaching(session, "page"))
      await gone.close()
      for _ in 1...3 { _ = try await other.call("ping") }
      release()
      // The claim of the second client ends after that of the first one.
      #expect(try await other.attach(session, as: "other").contains("stores"))
      #expect(try await owner.call("ping").contains("{}"))
      #expect(await !owner.takeNotifications().contains { $0.contains("evicted") })
      await other.close()
      await owner.close()
    }
  }

  @Test("nothing is sent while a node has no lease")
  func lapsed() async throws {
    try await withNodes { a, _, cluster in
      let client = try await a.client()
      _ = try await client.call("ping")
      a.node.setLapsed(true)
      let id = try await client.send("session/open", #"{"frontend":"client"}"#)
      let response = Record<String>()
      async let received: Void = {
        if let text = try await client.receive() { response.add(text) }
      }()
      await eventually("the session is journaled") { cluster.sessionCount == 1 }
      #expect(response.all == [])
      a.node.setLapsed(false)
      a.server.ownershipChanged(.held)
      try await received
      #expect(response.all.first?.contains("\"id\":\(id),") == true)
      await client.close()
    }
  }

  // The action that closes a connection waited for the lease as well, and the server never ended.
  @Test("a node without a lease ends, although it cannot send a response")
  func endingLapsed() async throws {
    try await withNodes { a, _, cluster in
      let client = try await a.client()
      _ = try await client.call("ping")
      a.node.setLapsed(true)
      _ = try await client.send("session/open", #"{"frontend":"client"}"#)
      await eventually("the session is journaled") { cluster.sessionCount == 1 }
      await a.server.stop()
      #expect(try await client.receive() == nil)
      await client.close()
    }
  }

  @Test("while the database is down, clients hear that they have to attach later")
  func outage() async throws {
    try await withNodes { a, b, cluster in
      let owner = try await b.client()
      let session = try await owner.open("owner")
      cluster.isDown = true
      let guest = try await a.client()
      #expect(try await guest.attach(session, as: "guest").contains("-32603"))
      cluster.isDown = false
      #expect(try await guest.attach(session, as: "guest").contains("stores"))
      await guest.close()
      await owner.close()
    }
  }

  @Test(
    "a commit that fails ends with an error for each request that waits, and nothing is acknowledged",
    arguments: Listener.allCases)
  func failedCommits(_ listener: Listener) async throws {
    try await withNodes(more: [Self.web]) { a, _, cluster in
      let client = try await a.client(listener == .tcp ? 0 : 1)
      let session = try await client.open("owner")
      _ = try await client.add(1, sequence: 1)
      cluster.isDown = true
      // The commit of the first one fails before the second one is carried out, or after.
      let first = try await client.send("store/send", ShardClient.adding(10, sequence: 2))
      _ = try? await client.send("store/send", ShardClient.adding(100, sequence: 3))
      try await expectErrors(first...(first + 1), least: 1, client)
      cluster.isDown = false
      let again = try await a.client()
      await eventually("the client can attach again") {
        (try? await again.attach(session, as: "owner").contains("stores")) == true
      }
      for (amount, sequence) in [(10, 2), (100, 3)] {
        _ = try await again.add(amount, sequence: sequence)
      }
      #expect(try await again.state().contains(#""sum":111"#))
      await again.close()
    }
  }

  @Test(
    "without a lease, clients wait for a bounded time; then each request gets an error, and 1012 follows"
  )
  func patience() async throws {
    let cluster = MemoryCluster()
    let gate = Gate()
    let a = try await TestNode.start(
      "a", in: cluster, patience: .seconds(1), gate: gate, more: [Self.web])
    let client = try await a.client(1)
    _ = try await client.open("owner")
    #expect(a.server.readiness == .ready)
    // This request waits for its effect, later ones only for the lease. The server may close the
    // connection before it has read these.
    let first = try await client.send(
      "store/send", #"{"store":"tally","settle":true,"input":{"type":"waited"}}"#)
    try await gate.holds(1)
    a.node.setLapsed(true)
    a.server.ownershipChanged(.lapsed)
    #expect(a.server.readiness == .leaseLapsed)
    _ = try? await client.send("store/send", ShardClient.adding(10, sequence: 1))
    _ = try? await client.send("ping")
    try await expectErrors(first...(first + 2), least: 1, client)
    gate.open()
    a.node.setLapsed(false)
    a.server.ownershipChanged(.held)
    #expect(a.server.readiness == .ready)
    let again = try await a.client()
    #expect(try await again.call("ping").contains("{}"))
    await again.close()
    await a.server.stop()
    #expect(a.server.readiness == .draining)
    #expect(cluster.conflicts == [])
  }

  /// Receives until the end: errors for the first requests and no result.
  private func expectErrors(
    _ ids: ClosedRange<Int>, least: Int, _ client: ShardClient
  ) async throws {
    var received: [String] = []
    while let message = try await client.receive() { received.append(message) }
    let responses = received.filter { !$0.contains(#""method":"#) }
    #expect(responses.count >= least && responses.count <= ids.count, "\(received)")
    for id in ids.prefix(responses.count) {
      #expect(
        responses.contains { $0.contains("\"id\":\(id),\"error\":{\"code\":-32800") },
        "\(received)")
    }
    #expect(!received.contains { $0.contains(#""changed""#) || $0.contains("store/changed") })
  }

  @Test("a node that ends hands its sessions over, and a client needs one reconnect")
  func drain() async throws {
    let cluster = MemoryCluster()
    let a = try await TestNode.start("a", in: cluster)
    let b = try await TestNode.start("b", in: cluster)
    var sessions: [SessionHandle] = []
    let clients = try await [b.client(), b.client(), b.client()]
    for client in clients {
      sessions.append(try await client.open("owner"))
      _ = try await client.add(sessions.count, sequence: 1)
    }
    let relayed = try await a.client()
    _ = try await relayed.attach(sessions[0], as: "relayed")
    async let stopped: Void = b.server.stop()
    for (index, client) in clients.enumerated() {
      while try await client.receive() != nil {}
      let again = try await a.client()
      let attached = try await again.attach(sessions[index], as: "owner")
      #expect(attached.contains(#""sequence":1"#))
      #expect(try await again.state().contains("\"sum\":\(index + 1)"))
      await again.close()
    }
    #expect(try await relayed.receive() == nil)
    await stopped
    for session in sessions {
      #expect(cluster.owner(of: session) == "a" && cluster.epoch(of: session) == 2)
    }
    for client in clients + [relayed] { await client.close() }
    await a.server.stop()
    #expect(cluster.conflicts == [])
  }
}
