// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Testing

@testable import Transports

@Suite("A WebSocket's client", .timeLimit(.minutes(5)))
struct WebSocketClientTests {
  @Test("what is sent while the connection ends fails, and waits for nothing")
  func lateSend() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { $0.close() }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = server.localAddress?.port ?? 0
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let sent = loop.makePromise(of: Void.self)
    _ = try await ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            WebSocketClientHandler(host: "127.0.0.1", port: port, maximumMessageBytes: 100),
            LateSender(sent))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    await #expect(throws: ChannelError.ioOnClosedChannel) { try await sent.futureResult.get() }
    try await server.close()
  }
}

/// Sends when the channel has ended, and its handlers are still there.
private final class LateSender: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let sent: EventLoopPromise<Void>

  init(_ sent: EventLoopPromise<Void>) { self.sent = sent }

  func channelInactive(context: ChannelHandlerContext) {
    context.channel.writeAndFlush(ByteBuffer(string: "{}\n"), promise: sent)
  }
}
