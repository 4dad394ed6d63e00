// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import StateMachines
import Testing

@testable import Transports

@Suite("Places for new clients of a nearly full server")
struct MakingRoomTests {
  /// A server with silent clients on the loops 1 and 2, and none on loop 0.
  private func server(connections: Int, silent: Int) throws -> (EmbeddedShards, [EmbeddedChannel]) {
    var limits = ServerLimits()
    limits.connections = connections
    let server = EmbeddedShards(3, limits: limits)
    var channels: [EmbeddedChannel] = []
    for index in 0..<silent {
      let loop = 1 + index % 2
      let channel = try server.connect(to: loop, isRemote: true)
      #expect(try server.registry(loop).enter(channel) == nil)
      channels.append(channel)
    }
    return (server, channels)
  }

  // Each of the other loops closed one of its own.
  @Test("for a new client one silent connection is closed, although all other loops have some")
  func one() throws {
    let (server, channels) = try server(connections: 4, silent: 4)
    let room = server.registry(0).makeRoom()
    let isDone = Lock(false)
    room.whenComplete { _ in isDone.withLock { $0 = true } }
    #expect(!isDone.withLock { $0 })
    server.run()
    #expect(isDone.withLock { $0 })
    #expect(channels.filter { !$0.isActive }.count == 1)
    try server.stop()
  }

  @Test("a client for which there is a place does not wait until another one is closed")
  func place() throws {
    let (server, channels) = try server(connections: 40, silent: 30)
    let isDone = Lock(false)
    server.registry(0).makeRoom().whenComplete { _ in isDone.withLock { $0 = true } }
    #expect(isDone.withLock { $0 })
    server.run()
    #expect(channels.filter { !$0.isActive }.count == 1)
    try server.stop()
  }
}
