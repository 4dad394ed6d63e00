// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Testing
import Wire

@testable import ClientTransports

@Suite("WebSocket client", .timeLimit(.minutes(15)))
struct WebSocketClientTests {
  @Test("a send while the connection ends fails, and does not wait")
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
    "a server that does not open a WebSocket causes an error with its response",
    arguments: [
      ("", "no response"), ("{\"jsonrpc\":\"2.0\"", "a response that is not HTTP"),
      ("HTTP/1.0 404 Not Found\r\n\r\n", "HTTP/1.0 404 Not Found"),
    ])
  func otherServer(response: String, expected: String) async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Responding(response))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let client = try await ClientConnection.connect(
      to: .web(host: "127.0.0.1", port: server.localAddress?.port ?? 0))
    // Both calls report the reason, in any order.
    let error = ClientError.noWebSocket(response: expected)
    await #expect(throws: error) { try await client.send("{}") }
    await #expect(throws: error) { try await client.receive() }
    await client.close()
    try await server.close()
  }

  @Test("a head that is not UTF-8, and a message immediately after it, are read correctly")
  func headWithInvalidUTF8() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Opening())
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let client = try await ClientConnection.connect(
      to: .web(host: "127.0.0.1", port: server.localAddress?.port ?? 0))
    #expect(try await client.receiveText() == "hello")
    await client.close()
    try await server.close()
  }
}

/// Sends when the channel has ended and its handlers still exist.
private final class LateSender: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let sent: EventLoopPromise<Void>

  init(_ sent: EventLoopPromise<Void>) { self.sent = sent }

  func channelInactive(context: ChannelHandlerContext) {
    context.channel.writeAndFlush(ByteBuffer(string: "{}\n"), promise: sent)
  }
}

/// Responds to the first bytes, or ends its output if the response is empty.
private final class Responding: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let response: String

  init(_ response: String) { self.response = response }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !response.isEmpty else { return context.close(mode: .output, promise: nil) }
    context.writeAndFlush(NIOAny(ByteBuffer(string: response)), promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
  }
}

/// Opens a WebSocket with a byte in its head that is not UTF-8, and sends `hello`.
private final class Opening: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let request = String(buffer: unwrapInboundIn(data))
    let key = request.split(separator: "Sec-WebSocket-Key: ").last?.prefix { $0 != "\r\n" } ?? ""
    var response = ByteBuffer(string: "HTTP/1.1 101 Switching Protocols\r\nServer: caf")
    response.writeBytes([0xE9, 0x0D, 0x0A])
    response.writeString(
      "Sec-WebSocket-Accept: \(WebSocketHandshake.accept(for: String(key)))\r\n\r\n")
    response.writeBytes([0x81, 5] + Array("hello".utf8))
    context.writeAndFlush(NIOAny(response), promise: nil)
  }
}
