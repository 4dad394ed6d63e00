// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import NIOCore
import NIOPosix
import ServerCore
import TestSupport
import Testing

@testable import Transports

@Suite("Timeout of unread bytes", .timeLimit(.minutes(15)))
struct UnreadTimeoutTests {
  let start = ContinuousClock.now

  @Test("the timeout restarts with each byte that the client reads, and stops when none is pending")
  func time() {
    var unread = UnreadTimeout(since: start)
    for (second, waitingBytes, isOver) in [
      (100, 0, false), (101, 500, false), (130.9, 500, false), (131, 500, true),
      (131, 499, false), (160.9, 499, false), (161, 0, false), (200, 499, false),
      (230, 499, true),
    ] {
      let seen = unread.check(
        start + .seconds(second), waitingBytes: waitingBytes, .seconds(30))
      #expect(seen == isOver, "\(second) \(waitingBytes)")
    }
    let seen = unread.check(start + .seconds(1e6), waitingBytes: 499, nil)
    #expect(!seen)
  }

  @Test("a client that reads nothing for too long is closed, and others are not")
  func closed() async throws {
    let time = TestTime()
    var limits = ServerLimits()
    limits.unreadTime = .seconds(30)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    try await withServer(limits: limits, now: time.now) { server in
      let channel = try await Self.ask(server.addresses[0], on: group)
      // The server checks the time once a second.
      time.step(by: .seconds(31))
      try await channel.closeFuture.get()
      time.step(by: .zero)
      let other = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await other.pings())
      await other.close()
    }
    try await group.shutdownGracefully()
  }

  /// Sends requests whose responses exceed the socket buffers, and reads nothing.
  private static func ask(_ address: ServerAddress, on group: any EventLoopGroup) async throws
    -> any Channel
  {
    guard case .tcp(let host, let port) = address else { throw CancellationError() }
    let channel = try await ClientBootstrap(group: group).channelOption(.autoRead, value: false)
      .connect(host: host, port: port).get()
    let batch = "[" + Array(repeating: ping, count: 900).joined(separator: ",") + "]\n"
    for _ in 1...1000 { channel.write(ByteBuffer(string: batch), promise: nil) }
    channel.flush()
    return channel
  }
}
