// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import ServerCore
import TestSupport
import Testing
import TransportTestSupport
import Transports

@Suite("Sessions of another shard", .timeLimit(.minutes(15)))
struct RelayTests {
  enum Transport: CaseIterable {
    case tcp
    case web
    case tls
    case secureWeb

    var address: ServerAddress {
      switch self {
      case .tcp: .tcp(host: "127.0.0.1", port: 0)
      case .web: .web(host: "127.0.0.1", port: 0)
      case .tls: .tls(host: "127.0.0.1", port: 0)
      case .secureWeb: .secureWeb(host: "127.0.0.1", port: 0)
      }
    }

    var isSecure: Bool { self == .tls || self == .secureWeb }
  }

  private func with(
    _ transport: Transport, _ body: (Server, ClientTrust) async throws -> Void
  ) async throws {
    guard transport.isSecure else {
      return try await withShards(transport.address) { try await body($0, ClientTrust()) }
    }
    let certificates = try TestCertificates()
    try await withShards(transport.address, certificate: try certificates.server()) {
      try await body($0, certificates.trust())
    }
  }

  @Test(
    "a client attaches to a session of either shard, and both see each other's updates",
    arguments: Transport.allCases, [0, 1])
  func attaching(_ transport: Transport, shard: Int) async throws {
    try await with(transport) { server, trust in
      let owner = try await ShardClient.connect(to: server, shard: 0, trust: trust)
      let session = try await owner.open("owner")
      #expect(session.shard(of: 2) == 0)
      _ = try await owner.call("store/subscribe", #"{"store":"tally"}"#)
      _ = try await owner.add(1)
      let guest = try await ShardClient.connect(to: server, shard: shard, trust: trust)
      let attached = try await guest.attach(session, as: "guest", revisions: #"{"tally":null}"#)
      #expect(attached.contains(#""snapshot":{"revision":1,"state":{"sum":1"#))
      #expect(try await guest.add(10).contains(#""revision":2,"changed":true"#))
      // The update comes before the response.
      let updates = await guest.takeNotifications()
      #expect(updates.count == 1 && updates[0].contains(#""revision":2"#))
      #expect(try await owner.add(100).contains(#""revision":3"#))
      let seen = await owner.takeNotifications()
      #expect(seen.filter { $0.contains("store/changed") }.count == 3)
      #expect(try await guest.state().contains(#""sum":111"#))
      // The owner is notified that the guest leaves.
      await guest.close()
      let left = try #require(try await owner.receive())
      #expect(left.contains("session/presence") && left.contains("detached"))
      // The guest continues over another connection, and receives the updates that it has missed.
      _ = try await owner.add(1)
      let again = try await ShardClient.connect(to: server, shard: shard, trust: trust)
      let replayed = try await again.attach(session, as: "guest", revisions: #"{"tally":3}"#)
      #expect(replayed.contains(#""replayed":1"#))
      let update = try #require(try await again.receive())
      #expect(update.contains(#""revision":4"#))
      await again.close()
      await owner.close()
    }
  }

  @Test("a client of the same name evicts one on another shard", arguments: Transport.allCases)
  func eviction(_ transport: Transport) async throws {
    try await with(transport) { server, trust in
      let first = try await ShardClient.connect(to: server, shard: 0, trust: trust)
      let session = try await first.open("page")
      let second = try await ShardClient.connect(to: server, shard: 1, trust: trust)
      _ = try await second.attach(session, as: "page")
      let third = try await ShardClient.connect(to: server, shard: 1, trust: trust)
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

  @Test("messages after session/attach are carried out in order, however they arrive")
  func pipelining() async throws {
    try await withShards { server in
      let owner = try await ShardClient.connect(to: server, shard: 0)
      let session = try await owner.open("owner")
      let guest = try await ShardClient.connect(to: server, shard: 1)
      let count = 500
      var messages = [("ping", "{}"), ("session/attach", ShardClient.attaching(session, "guest"))]
      for sequence in 1...count {
        messages.append(("store/send", ShardClient.adding(1, sequence: sequence)))
      }
      try await guest.send(together: messages)
      for id in 1...(count + 2) {
        #expect(try await guest.response().contains("\"id\":\(id),"))
      }
      #expect(try await guest.state().contains(#""sum":500"#))
      await guest.close()
      // Sent again over another connection, no input is applied twice.
      let again = try await ShardClient.connect(to: server, shard: 1)
      try await again.send(together: Array(messages.dropFirst()))
      #expect(try await again.response().contains("\"sequence\":\(count)"))
      for _ in 1...count { _ = try await again.response() }
      #expect(try await again.state().contains(#""sum":500"#))
      await again.close()
      await owner.close()
    }
  }

  @Test("session/attach in the middle of a batch", arguments: [true, false])
  func batch(exists: Bool) async throws {
    try await withShards { server in
      let owner = try await ShardClient.connect(to: server, shard: 0)
      let session = try await owner.open("owner")
      if !exists { _ = try await owner.call("session/close") }
      let guest = try await ShardClient.connect(to: server, shard: 1)
      let requests = [
        ("ping", "{}"), ("session/attach", ShardClient.attaching(session, "guest")),
        ("store/send", ShardClient.adding(5)), ("store/state", #"{"store":"tally"}"#),
      ]
      let texts = requests.enumerated().map { index, request in
        #"{"jsonrpc":"2.0","id":\#(index),"method":"\#(request.0)","params":\#(request.1)}"#
      }
      try await guest.connection.send("[" + texts.joined(separator: ",") + "]")
      let text = try #require(try await guest.receive())
      let responses =
        try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
      #expect(responses.map { $0["id"] as? Int } == [0, 1, 2, 3])
      #expect((responses[1]["result"] != nil) == exists)
      #expect(text.contains(#""sum":5"#))
      if exists { #expect(try await owner.state().contains(#""sum":5"#)) }
      await guest.close()
      await owner.close()
    }
  }

  @Test("a client that cannot attach keeps its session")
  func refused() async throws {
    try await withShards { server in
      let client = try await ShardClient.connect(to: server, shard: 0)
      _ = try await client.add(7)
      for digit in 0...3 {
        let handle = try #require(SessionHandle(String(repeating: "\(digit)", count: 32)))
        #expect(try await client.attach(handle, as: "a").contains("-32012"))
      }
      #expect(try await client.state().contains(#""sum":7"#))
      await client.close()
    }
  }

  @Test("a client moves from session to session, and leaves")
  func moving() async throws {
    try await withShards { server in
      var sessions: [SessionHandle] = []
      for shard in [0, 1, 1, 0] {
        let owner = try await ShardClient.connect(to: server, shard: shard)
        sessions.append(try await owner.open("owner"))
        _ = try await owner.add(sessions.count)
        await owner.close()
      }
      let client = try await ShardClient.connect(to: server, shard: 0)
      for _ in 1...3 {
        for (index, session) in sessions.enumerated() {
          _ = try await client.attach(session, as: "client")
          #expect(try await client.state().contains("\"sum\":\(index + 1)"))
        }
      }
      _ = try await client.call("session/detach")
      #expect(try await client.state().contains(#""sum":0"#))
      let own = try await client.open("client")
      #expect(try await client.call("session/info").contains(own.description))
      await client.close()
    }
  }

  @Test("requests in a session that the client has left are responded to, or cancelled")
  func earlierRequests() async throws {
    let gate = Gate()
    try await withShards(gate: gate) { server in
      let owner = try await ShardClient.connect(to: server, shard: 0)
      let session = try await owner.open("owner")
      let client = try await ShardClient.connect(to: server, shard: 1)
      let own = try await client.open("client")
      let wait = #"{"store":"tally","input":{"type":"waited"},"settle":true}"#
      let (first, second) = (
        try await client.send("store/send", wait), try await client.send("store/send", wait)
      )
      _ = try await client.attach(session, as: "client")
      try await client.connection.send(
        #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(second)}}"#)
      let cancelled = try await client.response()
      #expect(cancelled.contains("\"id\":\(second),") && cancelled.contains("-32800"))
      gate.open()
      let settled = try await client.response()
      #expect(settled.contains("\"id\":\(first),") && settled.contains("\"revision\":1"))
      _ = try await client.attach(own, as: "client")
      #expect(try await client.state().contains(#""sum":1000"#))
      await client.close()
      await owner.close()
    }
  }

  private func sessionOfEachShard(of server: Server) async throws -> [SessionHandle] {
    var sessions: [SessionHandle] = []
    for shard in [0, 1] {
      let owner = try await ShardClient.connect(to: server, shard: shard)
      sessions.append(try await owner.open("owner"))
      await owner.close()
    }
    return sessions
  }

  @Test("a client that leaves many sessions with open requests gets errors for the oldest ones")
  func manyEarlierRequests() async throws {
    let gate = Gate()
    try await withShards(gate: gate) { server in
      let sessions = try await sessionOfEachShard(of: server)
      let client = try await ShardClient.connect(to: server, shard: 0)
      _ = try await client.open("client")
      let wait = #"{"store":"tally","input":{"type":"waited"},"settle":true}"#
      var (sent, waiting, cancelled): ([Int], [Int], [Int]) = ([], [], [])
      func take(_ text: String) -> Bool {
        guard let index = waiting.firstIndex(where: { text.contains("\"id\":\($0),") }) else {
          return false
        }
        let id = waiting.remove(at: index)
        if text.contains("-32800") { cancelled.append(id) }
        return true
      }
      for hop in 0..<20 {
        sent.append(try await client.send("store/send", wait))
        waiting.append(sent[hop])
        try await client.send(
          "session/attach", ShardClient.attaching(sessions[(hop + 1) % 2], "client"))
        while take(try await client.response()) {}
      }
      // The requests of the last 16 sessions are open.
      while cancelled.count < 4 { #expect(take(try await client.response())) }
      #expect(cancelled.sorted() == Array(sent[..<4]))
      gate.open()
      while !waiting.isEmpty { #expect(take(try await client.response())) }
      #expect(cancelled.count == 4)
      await client.close()
    }
  }

  // They are written in pieces, and the first one counted for all.
  @Test("the responses of a session that a client has left are complete, also if they are large")
  func largeEarlierResponses() async throws {
    try await withShards { server in
      let sessions = try await sessionOfEachShard(of: server)
      let client = try await ShardClient.connect(to: server, shard: 0)
      _ = try await client.open("client")
      _ = try await client.call(
        "store/send", #"{"store":"tally","input":{"type":"filled","letter":"a","count":1200000}}"#)
      var open: Set = [1000, 2000, 3000]
      for id in open {
        try await client.connection.send(
          """
          [{"jsonrpc":"2.0","id":\(id),"method":"store/state","params":{"store":"tally"}},\
          {"jsonrpc":"2.0","id":\(id + 1),"method":"store/send","params":\
          {"store":"tally","input":{"type":"waited"},"settle":true}}]
          """)
      }
      // With the last of them the time of the first session is over.
      for hop in 1...17 {
        try await client.send(
          "session/attach", ShardClient.attaching(sessions[hop % 2], "client"))
        try await client.send(
          "store/send", #"{"store":"tally","input":{"type":"waited"},"settle":true}"#)
      }
      while !open.isEmpty {
        let text = try #require(try await client.receive())
        for id in open where text.hasPrefix("[{\"jsonrpc\":\"2.0\",\"id\":\(id),") {
          #expect(text.contains("\"id\":\(id + 1),\"error\":{\"code\":-32800"))
          open.remove(id)
        }
      }
      await client.close()
    }
  }

  @Test("at the end of input a client gets the responses of a session that it has left")
  func endOfInput() async throws {
    let gate = Gate()
    try await withShards(gate: gate) { server in
      let owner = try await ShardClient.connect(to: server, shard: 0)
      let session = try await owner.open("owner")
      let client = try await ShardClient.connect(to: server, shard: 1)
      _ = try await client.open("client")
      let waiting = try await client.send(
        "store/send", #"{"store":"tally","input":{"type":"waited"},"settle":true}"#)
      _ = try await client.attach(session, as: "client")
      try await client.connection.closeInput()
      gate.open()
      let response = try await client.response()
      #expect(response.contains("\"id\":\(waiting),") && response.contains("result"))
      #expect(try await client.receive() == nil)
      await client.close()
      await owner.close()
    }
  }

  // One of about two hundred lost the response: its connection ended while the client moved on, and the end
  // was reported before the response had come.
  @Test("a response comes before the close at whatever time the client moves on")
  func movingOnRepeatedly() async throws {
    try await withShards(shards: 3) { server in
      var sessions: [SessionHandle] = []
      var owners: [ShardClient] = []
      while sessions.count < 3 {
        let owner = try await ShardClient(server)
        let session = try await owner.open("owner")
        owners.append(owner)
        if !sessions.contains(where: { $0.shard(of: 3) == session.shard(of: 3) }) {
          sessions.append(session)
        }
      }
      for round in 0..<300 {
        let input = #"{"type":"yielded","times":\#(1000 + round * 8)}"#
        let client = try await ShardClient(server)
        var messages: [(method: String, params: String)] = []
        for step in 0..<4 {
          let session = sessions[(round + step) % 3]
          messages.append(("session/attach", ShardClient.attaching(session, "c\(round)")))
          if step == 0 {
            messages.append(("store/send", #"{"store":"tally","input":\#(input),"settle":true}"#))
          }
        }
        try await client.send(together: messages)
        try await client.connection.closeInput()
        var texts: [String] = []
        while let text = try await client.receive() { texts.append(text) }
        #expect(texts.contains { $0.contains("\"id\":2,") }, "round \(round)")
        await client.close()
      }
      for owner in owners { await owner.close() }
    }
  }

  // The other participants of the session saw its client until it left the server.
  @Test("a client leaves its former session when its last effect ends, also without a response")
  func effectsWithoutResponses() async throws {
    let gate = Gate()
    try await withShards(gate: gate) { server in
      let owner = try await ShardClient.connect(to: server, shard: 0)
      let session = try await owner.open("owner")
      let other = try await ShardClient.connect(to: server, shard: 1)
      let left = try await other.open("other")
      let client = try await ShardClient.connect(to: server, shard: 1)
      _ = try await client.attach(left, as: "client")
      #expect(
        try await client.call("store/send", #"{"store":"tally","input":{"type":"waited"}}"#)
          .contains("result"))
      _ = try await client.attach(session, as: "client")
      gate.open()
      while try await other.receive()?.contains("detached") == false {}
      #expect(try await client.state().contains("sum"))
      for client in [client, other, owner] { await client.close() }
    }
  }

  // It was cut without the response.
  @Test("a client whose token is revoked gets errors for requests in a session that it has left")
  func revokedWithEarlierRequests() async throws {
    let credentials = Credentials(try TokenTable(parsing: "ann token-of-ann-0001\n".utf8))
    try await withShards(credentials: credentials) { server in
      func connect() async throws -> (ShardClient, SessionHandle) {
        let client = try await ShardClient(server)
        _ = try await client.call("initialize", #"{"token":"token-of-ann-0001"}"#)
        return (client, try await client.open("client"))
      }
      let (owner, session) = try await connect()
      var (client, own) = try await connect()
      while own.shard(of: 2) == session.shard(of: 2) {
        await client.close()
        (client, own) = try await connect()
      }
      let waiting = try await client.send(
        "store/send", #"{"store":"tally","input":{"type":"waited"},"settle":true}"#)
      _ = try await client.attach(session, as: "client")
      credentials.replace(with: try TokenTable(parsing: "bob token-of-bob-0001\n".utf8))
      server.credentialsChanged()
      var texts: [String] = []
      while let text = try await client.receive() { texts.append(text) }
      #expect(texts.contains { $0.contains("-32016") })
      #expect(texts.contains { $0.contains("\"id\":\(waiting),") && $0.contains("-32800") })
      // The client is no longer a participant.
      let rest = texts.drop { !$0.contains("-32016") }
      #expect(!rest.contains { $0.contains("\"method\"") }, "\(rest)")
      await client.close()
      await owner.close()
    }
  }

  // The former connection of such a client was freed in the turn that wrote to it.
  @Test("clients that disconnect while they are passed on do not end the server")
  func disconnecting() async throws {
    try await withShards { server in
      var sessions: [SessionHandle] = []
      var owners: [ShardClient] = []
      for shard in [0, 1, 0, 1] {
        let owner = try await ShardClient.connect(to: server, shard: shard)
        sessions.append(try await owner.open("owner"))
        owners.append(owner)
      }
      await withTaskGroup(of: Void.self) { group in
        for start in 0..<8 {
          group.addTask { [sessions] in
            for round in 0..<40 {
              guard let client = try? await ShardClient(server) else { continue }
              var messages: [(method: String, params: String)] = []
              for step in 0..<4 {
                let session = sessions[(start + round + step) % 4]
                messages.append(("session/attach", ShardClient.attaching(session, "c\(start)")))
                let wait = #"{"store":"tally","input":{"type":"waited"},"settle":true}"#
                messages += Array(repeating: ("store/send", wait), count: 3)
              }
              try? await client.send(together: messages)
              // Now, or when the first of them are carried out.
              for _ in 0..<round % 4 { _ = try? await client.receive() }
              await client.close()
            }
          }
        }
      }
      for owner in owners { #expect(try await owner.state().contains("sum")) }
    }
  }

  @Test("updates for a relayed client that does not read are coalesced")
  func slowConsumer() async throws {
    try await withShards { server in
      let owner = try await ShardClient.connect(to: server, shard: 0)
      let session = try await owner.open("owner")
      let slow = try await ShardClient.connect(to: server, shard: 1)
      _ = try await slow.attach(session, as: "slow", revisions: #"{"tally":null}"#)
      // The first updates fill the buffers of the sockets.
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
    try await withShards { server in
      let owner = try await ShardClient.connect(to: server, shard: 0)
      let session = try await owner.open("owner")
      _ = try await owner.call(
        "store/send", #"{"store":"tally","input":{"type":"filled","letter":"a","count":50000}}"#)
      let slow = try await ShardClient.connect(to: server, shard: 1)
      _ = try await slow.attach(session, as: "slow")
      // Their responses have 100 MB, more than a client's outbox may hold.
      let count = 2000
      let requests = Array(repeating: ("store/state", #"{"store":"tally"}"#), count: count)
      async let sent: Void = slow.send(together: requests)
      // Other clients are served meanwhile.
      for _ in 1...200 { #expect(try await owner.call("ping").contains("{}")) }
      for id in 2...(count + 1) {
        #expect(try await slow.response().hasPrefix("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\""))
      }
      try await sent
      await slow.close()
      await owner.close()
    }
  }

  @Test("the end of the server reaches relayed clients", arguments: Transport.allCases)
  func stopping(_ transport: Transport) async throws {
    try await with(transport) { server, trust in
      let owner = try await ShardClient.connect(to: server, shard: 0, trust: trust)
      let session = try await owner.open("owner")
      let guest = try await ShardClient.connect(to: server, shard: 1, trust: trust)
      _ = try await guest.attach(session, as: "guest")
      async let stopped: Void = server.stop()
      for client in [guest, owner] {
        while try await client.receive() != nil {}
        await client.close()
      }
      await stopped
    }
  }

  @Test("identities count relayed connections, and their revocation reaches them")
  func identities() async throws {
    let table = try TokenTable(parsing: "ann token-of-ann-0001\nbob token-of-bob-0001\n".utf8)
    let credentials = Credentials(table)
    var limits = ServerLimits()
    limits.connectionsPerIdentity = 2
    try await withShards(limits: limits, credentials: credentials) { server in
      func client(_ name: String) async throws -> ShardClient {
        let client = try await ShardClient(server)
        _ = try await client.call("initialize", #"{"token":"token-of-\#(name)-0001"}"#)
        return client
      }
      let owner = try await client("ann")
      let session = try await owner.open("owner")
      // The second connection is on the other loop.
      let guest = try await client("ann")
      #expect(try await guest.attach(session, as: "guest").contains("\"result\""))
      let bob = try await client("bob")
      let other = try await client("bob")
      for client in [bob, other] {
        #expect(try await client.attach(session, as: "bob").contains("-32012"))
      }
      let third = try await ShardClient(server)
      #expect(
        try await third.call("initialize", #"{"token":"token-of-ann-0001"}"#)
          .contains("connectionsPerIdentity"))
      await third.close()
      // The place of a relayed connection is free when it has ended.
      await guest.close()
      while try await owner.receive()?.contains("detached") == false {}
      let again = try await client("ann")
      #expect(try await again.attach(session, as: "guest").contains("\"result\""))
      credentials.replace(with: try TokenTable(parsing: "bob token-of-bob-0001\n".utf8))
      server.credentialsChanged()
      // The owner may leave first.
      var last = ""
      while let text = try await again.receive() { last = text }
      #expect(last.contains("-32016"))
      #expect(try await bob.call("ping").contains("{}"))
      for client in [owner, again, bob, other] { await client.close() }
    }
  }
}
