// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

@Suite("Connections that are refused")
struct RefusedConnectionsTests {
  @Test("so many are told why they are refused, any more are closed without a reason")
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
    // Whatever the reason is.
    #expect(try registry.enter(channels[2], refusing: .user) == .user)
    #expect(throws: TooManyRefused.self) { try registry.enter(channels[3]) }
    #expect(throws: TooManyRefused.self) { try registry.enter(channels[3], refusing: .user) }
    // One that has been told is gone, and then the one that was served.
    _ = try channels[1].finish()
    #expect(try registry.enter(channels[3]) == .connections)
    _ = try channels[0].finish()
    #expect(try registry.enter(channels[4]) == nil)
    for channel in channels[2...] { _ = try channel.finish() }
  }
}
