// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import ServerCore
import Testing
import Transports

@Suite("Limits of several shards", .timeLimit(.minutes(15)))
struct ShardLimitTests {
  @Test("the limit of connections counts those of all loops")
  func connections() async throws {
    var limits = ServerLimits()
    limits.connections = 4
    try await withShards(limits: limits) { server in
      var clients: [ShardClient] = []
      for _ in 1...4 {
        let client = try await ShardClient(server)
        #expect(try await client.call("ping").contains("{}"))
        clients.append(client)
      }
      let refused = try await ShardClient(server)
      #expect(try await refused.receive()?.contains("\"limit\":\"connections\"") == true)
      await refused.close()
      for client in clients { await client.close() }
    }
  }

  @Test("a silent connection of another loop is closed for a new client")
  func silentConnections() async throws {
    var limits = ServerLimits()
    limits.connections = 4
    try await withShards(limits: limits) { server in
      // The connections of one loop are used, and those of the other are silent.
      var clients: [ShardClient] = []
      for number in 1...4 {
        let client = try await ShardClient(server)
        if !number.isMultiple(of: 2) { _ = try await client.call("ping") }
        clients.append(client)
      }
      var served = false
      for _ in 1...100 where !served {
        let new = try await ShardClient(server)
        try await new.send("ping")
        served = try await new.receive()?.contains("\"result\"") == true
        await new.close()
      }
      #expect(served)
      for client in clients { await client.close() }
    }
  }

  @Test("the limits of sessions count those of all shards")
  func sessions() async throws {
    var limits = SessionLimits()
    limits.sessions = 4
    try await withShards(sessionLimits: limits) { server in
      var clients: [ShardClient] = []
      for number in 1...4 {
        let client = try await ShardClient(server)
        _ = try await client.open("client \(number)")
        clients.append(client)
      }
      for _ in 1...2 {
        let other = try await ShardClient(server)
        #expect(try await other.call("session/open").contains("\"limit\":\"sessions\""))
        await other.close()
      }
      // A session without a client is ended in favor of a new one, also on the other shard: the
      // seventh connection is on the other loop than the second one.
      let left = try await clients[1].open("client 2")
      _ = try await clients[1].call("session/detach")
      let newcomer = try await ShardClient(server)
      let handle = try await newcomer.open("new")
      #expect(handle.shard(of: 2) != left.shard(of: 2))
      #expect(try await clients[1].attach(left, as: "client 2").contains("-32013"))
      for client in clients + [newcomer] { await client.close() }
    }
  }

  @Test("the memory of sessions counts those of all shards")
  func memory() async throws {
    var limits = SessionLimits()
    limits.bytes = 1_300_000
    try await withShards(sessionLimits: limits) { server in
      let clients = try await [
        ShardClient.connect(to: server, shard: 0), ShardClient.connect(to: server, shard: 1),
      ]
      // A state counts twice, so either shard alone has room for all of its three.
      let fill =
        #"{"store":"tally","input":{"type":"filled","letter":"a","count":\#(200_000)}}"#
      var results: [Bool] = []
      for round in 0..<6 {
        _ = try await clients[round % 2].call(
          "store/open", #"{"store":"s\#(round)","kind":"tally"}"#)
        let response = try await clients[round % 2].call(
          "store/send", fill.replacing("\"tally\"", with: "\"s\(round)\""))
        results.append(response.contains("\"revision\""))
      }
      #expect(results.first == true && results.last == false, "\(results)")
      for client in clients { await client.close() }
    }
  }
}
