// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOPosix
import Testing
import Transports
import Wire

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

extension WebSocketClientTests {
  /// A server that sent pings and read nothing filled the memory of the client with pongs.
  @Test("while a pong waits, pings are remembered only by the last one")
  func pongs() throws {
    let (channel, written) = (EmbeddedChannel(), HeldWrites())
    try channel.pipeline.syncOperations.addHandlers(
      written, WebSocketClientHandler(host: "localhost", port: 1, maximumMessageBytes: 1000))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    let request = try #require(written.frames.first.map { String(buffer: $0) })
    let key = try #require(
      request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") })
    let accept = WebSocketHandshake.accept(for: String(key.dropFirst(19)))
    try channel.writeInbound(
      ByteBuffer(
        string: "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"))
    written.complete()
    for payload in 1...100 {
      try channel.writeInbound(ByteBuffer(bytes: [0x89, 1, UInt8(payload)]))
    }
    #expect(written.pongs == [1])
    written.complete()
    #expect(written.pongs == [100])
    written.complete()
    #expect(written.pongs.isEmpty)
    try channel.writeInbound(ByteBuffer(bytes: [0x89, 1, 101]))
    #expect(written.pongs == [101])
    written.complete()
    _ = try channel.finish()
  }
}

/// Holds writes until the test completes them, as a channel whose server does not read.
private final class HeldWrites: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  private(set) var frames: [ByteBuffer] = []
  private var promises: [EventLoopPromise<Void>?] = []

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    frames.append(unwrapOutboundIn(data))
    promises.append(promise)
  }

  /// The payloads of the held pongs, each of one byte.
  var pongs: [UInt8] {
    frames.compactMap { frame in
      let bytes = Array(frame.readableBytesView)
      return bytes.count == 7 && bytes[0] == 0x8A ? bytes[6] ^ bytes[2] : nil
    }
  }

  /// Completes the held writes.
  func complete() {
    let completed = promises
    (frames, promises) = ([], [])
    for promise in completed { promise?.succeed() }
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
