// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

@Suite("Refused connections")
struct RefusedConnectionsTests {
  @Test("a limited number of refused connections get a reason, and others are closed without one")
  func refusals() throws {
    var limits = ServerLimits()
    limits.connections = 1
    limits.refusedConnections = 2
    let loop = EmbeddedEventLoop()
    let shard = Shard(executor: LoopExecutor(loop), kinds: [])
    let registry = ConnectionRegistry(ServerSettings(limits: limits), of: shard, on: loop)
    func channel() throws -> EmbeddedChannel {
      let channel = EmbeddedChannel(loop: loop)
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      return channel
    }
    let channels = try (0..<5).map { _ in try channel() }
    #expect(try registry.enter(channels[0]) == nil)
    #expect(try registry.enter(channels[1]) == .connections)
    // The limit is independent of the reason.
    #expect(try registry.enter(channels[2], refusing: .user) == .user)
    #expect(throws: TooManyRefused.self) { try registry.enter(channels[3]) }
    #expect(throws: TooManyRefused.self) { try registry.enter(channels[3], refusing: .user) }
    // A refused connection ends, and later the served one.
    _ = try channels[1].finish()
    #expect(try registry.enter(channels[3]) == .connections)
    _ = try channels[0].finish()
    #expect(try registry.enter(channels[4]) == nil)
    for channel in channels[2...] { _ = try channel.finish() }
  }

  /// On the loopback the limit of one address is that of all connections. It was reached until the channel
  /// had closed on its own loop, and a client was refused.
  @Test("the place of a channel and that of its address are free when it begins to close")
  func places() throws {
    var limits = ServerLimits()
    limits.connections = 2
    let counts = ConnectionCounts(ServerSettings(limits: limits))
    let address = try #require(ClientAddress(SocketAddress(ipAddress: "127.0.0.1", port: 1)))
    final class Channel {}
    let channels = (0..<4).map { _ in Channel() }
    let ids = channels.map { ObjectIdentifier($0) }
    defer { withExtendedLifetime(channels) {} }
    #expect(counts.enter(address, ids[0]) == nil && counts.enter(address, ids[1]) == nil)
    counts.leave(ids[0])
    #expect(counts.enter(address, ids[2]) == nil)
    // It has closed, which frees no other place.
    counts.leave(ids[0])
    #expect(counts.enter(address, ids[3]) == .connections)
    // That of another node still takes a place, but not for its address.
    counts.servesNode(ids[1])
    counts.servesNode(ids[1])
    #expect(counts.enter(address, ids[3]) == .connections)
    counts.leave(ids[1])
    #expect(counts.enter(address, ids[3]) == nil)
    #expect(counts.enter(address, ids[1]) == .connections)
  }
}
