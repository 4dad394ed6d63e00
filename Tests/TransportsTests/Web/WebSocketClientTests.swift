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

  @Test(
    "who opens no WebSocket is told from one that does", arguments: ["", "{\"jsonrpc\":\"2.0\""])
  func otherServer(answer: String) async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Answering(answer))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let client = try await ClientConnection.connect(
      to: .web(host: "127.0.0.1", port: server.localAddress?.port ?? 0))
    await #expect(throws: (any Error).self) { try await client.send(Array(ping.utf8)) }
    let error = await #expect(throws: ClientError.self) { try await client.receive() }
    #expect(error == .noWebSocket(answer: answer.isEmpty ? "nothing" : "no HTTP"))
    await client.close()
    try await server.close()
  }

  @Test("what was sent before the WebSocket was open goes out before its end")
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
      // In one piece of work of the loop, which cannot hear the server meanwhile.
      try await loop.submit {
        channel.writeAndFlush(ByteBuffer(string: ping + "\n"), promise: nil)
        channel.close(mode: .output, promise: nil)
      }.get()
      #expect(try await received.futureResult.get() == pong + "\n")
      try? await channel.close()
    }
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

/// Answers the first that it hears, or ends its side of the connection where there is nothing to say.
private final class Answering: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let answer: String

  init(_ answer: String) { self.answer = answer }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !answer.isEmpty else { return context.close(mode: .output, promise: nil) }
    context.writeAndFlush(NIOAny(ByteBuffer(string: answer)), promise: nil)
  }
}

/// Gathers what comes until the end.
private final class Gathering: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let all: EventLoopPromise<String>
  private var text = ""

  init(_ all: EventLoopPromise<String>) { self.all = all }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    text += String(buffer: unwrapInboundIn(data))
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { all.succeed(text) }
  }
}
