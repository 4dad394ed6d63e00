// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Testing
import Transports

@testable import ClientTransports

@Suite("WebSocket client and server", .timeLimit(.minutes(15)))
struct WebSocketClientTests {
  @Test("bytes that were sent before the WebSocket is open arrive before its end")
  func earlyEnd() async throws {
    try await withServer(.web(host: "127.0.0.1", port: 0)) { server in
      guard case .web(let host, let port) = server.addresses[0] else { return }
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      let received = loop.makePromise(of: String.self)
      let channel = try await ClientBootstrap(group: loop)
        .channelOption(.allowRemoteHalfClosure, value: true)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers(
              WebSocketClientHandler(host: host, port: port, maximumMessageBytes: 1000),
              Gathering(received))
          }
        }
        .connect(host: host, port: port).get()
      #expect(try await received.futureResult.get() == pong + "\n")
      try? await channel.close()
    }
  }
}

/// Sends a ping without a line end, ends its output, and collects the text until the end.
private final class Gathering: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let all: EventLoopPromise<String>
  private var text = ""

  init(_ all: EventLoopPromise<String>) { self.all = all }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    text += String(buffer: unwrapInboundIn(data))
  }

  // Sends before the server can have responded.
  func channelActive(context: ChannelHandlerContext) {
    context.writeAndFlush(NIOAny(ByteBuffer(string: ping)), promise: nil)
    context.close(mode: .output, promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { all.succeed(text) }
  }

  func channelInactive(context: ChannelHandlerContext) { all.succeed(text) }
}
