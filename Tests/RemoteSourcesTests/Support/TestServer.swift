// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Testing

@testable import RemoteSources

/// A server on loopback that a test controls byte by byte.
struct TestServer: Sendable {
  let port: Int

  /// A URL on this server.
  func address(_ target: String = "/") throws -> HTTPAddress {
    try HTTPAddress("http://127.0.0.1:\(port)\(target)")
  }

  /// Calls `body` with a server that runs `script` for each connection and then closes it.
  ///
  /// Returns when all scripts have ended. An error of a script is recorded as an issue.
  static func serving<Result>(
    _ script: @escaping @Sendable (inout Visitor) async throws -> Void,
    while body: (TestServer) async throws -> Result
  ) async throws -> Result {
    let (channels, arrivals) = AsyncStream<any Channel>.makeStream()
    let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      // Nothing is read before a script runs for the connection.
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        arrivals.yield(channel)
        return channel.eventLoop.makeSucceededVoidFuture()
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        await withDiscardingTaskGroup { visitors in
          for await channel in channels {
            visitors.addTask { await run(script, on: channel) }
          }
        }
      }
      let result: Swift.Result<Result, any Error>
      do {
        result = .success(try await body(TestServer(port: listener.localAddress?.port ?? 0)))
      } catch {
        result = .failure(error)
      }
      try await listener.close()
      arrivals.finish()
      try await group.waitForAll()
      return try result.get()
    }
  }

  private static func run(
    _ script: @Sendable (inout Visitor) async throws -> Void, on channel: any Channel
  ) async {
    do {
      let connection = try await channel.eventLoop.submit {
        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
      }.get()
      // It is not an error if the client has closed the connection already.
      try? await channel.setOption(.autoRead, value: true).get()
      try? await connection.executeThenClose { inbound, outbound in
        var visitor = Visitor(parts: inbound.makeAsyncIterator(), outbound: outbound)
        do { try await script(&visitor) } catch { Issue.record(error) }
      }
    } catch {
      // The client has closed the connection before its script began.
      try? await channel.close()
    }
  }

  /// Returns a server that has ended, so that its port has no listener.
  static func deserted() async throws -> TestServer {
    try await serving({ _ in }, while: { $0 })
  }
}

/// A connection of a client to a `TestServer`.
struct Visitor {
  fileprivate var parts: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
  fileprivate let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

  /// Returns the head of the request with its line breaks; empty if the client closes the
  /// connection.
  mutating func request() async -> String {
    var text = ""
    while !text.hasSuffix("\r\n\r\n"), let part = try? await parts.next(isolation: #isolation) {
      text += String(decoding: part.readableBytesView, as: UTF8.self)
    }
    return text
  }

  func send(_ text: String) async throws { try await send([UInt8](text.utf8)) }

  func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

  /// Reads the request and responds with a status, headers and a body.
  mutating func respond(_ head: String, _ body: [UInt8] = []) async throws {
    _ = await request()
    try await send([UInt8]("HTTP/1.1 \(head)\r\n".utf8) + [UInt8]("\r\n".utf8) + body)
  }

  /// Reads the request and responds with a body of known length.
  mutating func respond(_ head: String, text: String) async throws {
    try await respond(head + "\r\nContent-Length: \(text.utf8.count)", [UInt8](text.utf8))
  }

  /// Waits until the client has closed the connection.
  mutating func untilGone() async {
    // The stream may end or fail, for example by a reset.
    while (try? await parts.next(isolation: #isolation)) != nil {}
  }

  /// Sends the same text repeatedly until the client has closed the connection.
  func flood(_ text: String) async {
    while (try? await send(text)) != nil {}
  }
}
