// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

/// A server without sockets, on a loop whose clock the test advances. For tests that stay on one
/// thread.
final class EmbeddedServer {
  private let shards: EmbeddedShards

  var loop: EmbeddedEventLoop { shards.loops[0] }
  /// The connections that wait for other clients to be served. The test continues them.
  let yieldQueue: YieldQueue

  /// - Parameters: As for `EmbeddedShards`.
  init(
    _ kinds: [StoreKind], limits: ServerLimits = ServerLimits(),
    now: (@Sendable () -> ContinuousClock.Instant)? = nil
  ) {
    shards = EmbeddedShards(1, kinds: kinds, limits: limits, now: now)
    yieldQueue = shards.yieldQueue(0)
  }

  /// Returns a connection.
  /// - Parameter before: A handler between the connection and the client.
  func connect(through before: any ChannelHandler) throws -> EmbeddedChannel {
    try shards.connect([before, shards.handler(0)], to: 0)
  }

  /// Returns an open WebSocket.
  /// - Parameter before: A handler between the connection and the client.
  func connectWebSocket(
    through before: any ChannelHandler
  ) throws -> EmbeddedChannel {
    let handler = shards.handler(0, over: .webSocket)
    let webSocket = WebSocketHandler(settings: shards.settings, connection: handler)
    handler.webSocket = webSocket
    return try shards.connect([before, webSocket, handler], to: 0)
  }

  /// Ends a channel that has never been active, as one whose client was gone when it was accepted.
  /// - Returns: The handler of its connection.
  func endBeforeActive() throws -> ConnectionHandler {
    let channel = EmbeddedChannel(loop: loop)
    let handler = shards.handler(0)
    // Unlike a socket, an embedded channel reports its end also then.
    try channel.pipeline.syncOperations.addHandlers([EndFilter(), handler])
    _ = try channel.finish(acceptAlreadyClosed: true)
    loop.run()
    return handler
  }

  /// Ends all connections.
  func stop() throws { try shards.stop() }
}

/// Withholds the end of a channel.
private final class EndFilter: ChannelInboundHandler {
  typealias InboundIn = Never

  func channelInactive(context: ChannelHandlerContext) {}
}

extension EmbeddedChannel {
  /// Returns the lines that the client has received since the last call.
  func lines() throws -> [String] {
    var text = ""
    while let bytes = try readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
    return text.split(separator: "\n").map(String.init)
  }

  /// Sends a line as the client.
  func send(_ line: String) throws { try writeInbound(ByteBuffer(string: line + "\n")) }
}
