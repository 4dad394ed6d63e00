// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import NIOCore
import NIOPosix
import Testing
import TransportTestSupport
import Transports

/// A client that writes and reads raw bytes.
actor RawClient {
  private let channel: any Channel
  private let bytes: AsyncThrowingStream<[UInt8], any Error>
  private var pending: [UInt8] = []

  init(_ address: ServerAddress) async throws {
    guard case .web(let host, let port) = address else { throw ClientError.closed }
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Collector(continuation))
        }
      }
      .connect(host: host, port: port).get()
    bytes = stream
  }

  private func next() async throws -> [UInt8]? {
    var iterator = bytes.makeAsyncIterator()
    return try await iterator.next(isolation: self)
  }

  func send(_ bytes: [UInt8]) async throws {
    try await channel.writeAndFlush(channel.allocator.buffer(bytes: bytes))
  }

  func send(_ text: String) async throws { try await send(Array(text.utf8)) }

  func close() async { try? await channel.close() }

  /// Returns the next `count` bytes, or fewer if the server ends the connection before.
  func receive(_ count: Int) async throws -> [UInt8] {
    while pending.count < count, let more = try await next() { pending += more }
    defer { pending.removeFirst(min(count, pending.count)) }
    return Array(pending.prefix(count))
  }

  /// Returns all bytes until the server ends the connection.
  func receiveAll() async throws -> [UInt8] { try await receive(.max) }

  /// Returns the head and the body of a response.
  func receiveResponse() async throws -> (head: String, body: String) {
    while !String(decoding: pending, as: UTF8.self).contains("\r\n\r\n"),
      let more = try await next()
    { pending += more }
    let text = String(decoding: pending, as: UTF8.self)
    let end = try #require(text.firstRange(of: "\r\n\r\n"))
    let head = String(text[..<end.lowerBound])
    pending.removeFirst(text[..<end.upperBound].utf8.count)
    let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
      .flatMap { Int($0.dropFirst(16)) }
    return (head, String(decoding: try await receive(length ?? 0), as: UTF8.self))
  }

  /// Returns the request that opens a WebSocket.
  nonisolated static func opening(_ path: String = "/") -> String {
    """
    GET \(path) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
    """
  }

  /// Opens a WebSocket.
  func open(_ path: String = "/") async throws {
    try await send(Self.opening(path))
    let response = try await receiveResponse()
    #expect(response.head.hasPrefix("HTTP/1.1 101 "))
    #expect(response.head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
    #expect(!response.head.contains("Extensions"))
  }

  /// Sends a frame, masked with zeros.
  func frame(_ opcode: UInt8, _ payload: [UInt8] = [], isLast: Bool = true) async throws {
    try await send(Self.frame(opcode, payload, isLast: isLast))
  }

  nonisolated static func frame(_ opcode: UInt8, _ payload: [UInt8] = [], isLast: Bool = true)
    -> [UInt8]
  {
    let start = (isLast ? 0x80 : 0) | opcode
    let length =
      payload.count < 126
      ? [0x80 | UInt8(payload.count)]
      : [0xFF] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
    return [start] + length + [0, 0, 0, 0] + payload
  }

  /// Returns the opcode and the payload of the next frame; nil at the end.
  func receiveFrame() async throws -> (opcode: UInt8, text: String)? {
    let head = try await receive(2)
    guard head.count == 2 else { return nil }
    #expect(head[0] & 0xF0 == 0x80 && head[1] & 0x80 == 0)
    var length = Int(head[1])
    if length == 126 {
      length = try await receive(2).reduce(0) { $0 << 8 | Int($1) }
    } else if length == 127 {
      length = try await receive(8).reduce(0) { $0 << 8 | Int($1) }
    }
    return (head[0] & 0xF, String(decoding: try await receive(length), as: UTF8.self))
  }

  /// Returns the code of the next close frame.
  func receiveClose() async throws -> UInt16? {
    let head = try await receive(2)
    guard head == [0x88, 2] else {
      Issue.record("not a close with a code: \(head)")
      return nil
    }
    return try await receive(2).reduce(0) { $0 << 8 | UInt16($1) }
  }
}

private final class Collector: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation

  init(_ continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation) {
    self.continuation = continuation
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    continuation.yield(Array(unwrapInboundIn(data).readableBytesView))
  }

  func channelInactive(context: ChannelHandlerContext) { continuation.finish() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    continuation.finish()
    context.close(promise: nil)
  }
}

extension PlainSocket {
  /// Opens a WebSocket.
  func open() throws {
    try send(RawClient.opening())
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head.append(try receiveByte()) }
  }
}
