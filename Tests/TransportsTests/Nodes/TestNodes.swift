// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import JournalTestSupport
import ServerCore
import StateMachines
import TestSupport
import Testing
import Transports

/// A server among others.
struct TestNode {
  let node: MemoryNode
  let server: Server

  static let secret = NodeSecret("0123456789abcdef0123456789abcdef")

  /// Starts a node.
  static func start(
    _ name: String, in cluster: MemoryCluster, _ address: ServerAddress = loopback,
    secret: NodeSecret? = secret, shards: Int = 1, limits: ServerLimits = .init(),
    sessionLimits: SessionLimits = .init(), patience: Duration = .seconds(20),
    certificate: ServerCertificate? = nil,
    authority: String? = nil, credentials: Credentials? = nil, gate: Gate = Gate(),
    more: [ServerAddress] = [], now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) async throws -> TestNode {
    var limits = limits
    // A loaded machine must not end a connection.
    (limits.timeToFirstRequest, limits.unreadTime, limits.frameTime) = (nil, nil, nil)
    let node = cluster.node(name)
    var membership = NodeMembership(
      ownership: node, secret: try #require(secret), lease: .seconds(1))
    membership.authority = authority
    membership.patience = patience
    let server = try await Server.start(
      kinds: [StoreKind("tally") { Sum(gate: gate) }],
      settings: ServerSettings(
        limits: limits, credentials: credentials, nodes: membership.settings, now: now),
      sessionLimits: sessionLimits, listeners: [address] + more, certificate: certificate,
      shards: shards, nodes: membership, journal: node)
    node.setAddress("\(server.addresses[0])")
    return TestNode(node: node, server: server)
  }

  static let loopback = ServerAddress.tcp(host: "127.0.0.1", port: 0)

  func client(_ index: Int = 0, trust: ClientTrust = ClientTrust()) async throws -> ShardClient {
    try await ShardClient(server, index, trust: trust)
  }

  /// Ends the lease as if the node were cut off, and tells the node.
  func lose() {
    node.die()
    server.ownershipChanged(.lost)
  }
}

/// Runs `body` with two nodes, and stops them.
func withNodes(
  _ address: ServerAddress = TestNode.loopback, shards: Int = 1,
  certificate: ServerCertificate? = nil, authority: String? = nil,
  more: [ServerAddress] = [],
  _ body: (TestNode, TestNode, MemoryCluster) async throws -> Void
) async throws {
  let cluster = MemoryCluster()
  var nodes: [TestNode] = []
  for name in ["a", "b"] {
    nodes.append(
      try await TestNode.start(
        name, in: cluster, address, shards: shards, certificate: certificate,
        authority: authority, more: more))
  }
  var failure: (any Error)?
  do { try await body(nodes[0], nodes[1], cluster) } catch { failure = error }
  for node in nodes { await node.server.stop() }
  if let failure { throw failure }
  #expect(cluster.conflicts == [])
}
