// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

/// A server without sockets, on a loop whose clock the test advances. For tests that stay on one
/// thread.
final class EmbeddedServer {
  let loop = EmbeddedEventLoop()
  private let settings: ServerSettings
  private let shard: Shard
  private let registry: ConnectionRegistry
  /// The connections that wait for other clients to be served. The test continues them.
  let yieldQueue: YieldQueue
  private var channels: [EmbeddedChannel] = []

  /// - Parameters:
  ///   - kinds: The kinds of its stores.
  ///   - limits: The limits of its connections.
  ///   - now: The clock that measures turns. By default it stands still, so that no turn is long,
  ///     however slow the machine is.
  init(
    _ kinds: [StoreKind], limits: ServerLimits = ServerLimits(),
    now: (@Sendable () -> ContinuousClock.Instant)? = nil
  ) {
    shard = Shard(executor: LoopExecutor(loop), kinds: kinds)
    let start = ContinuousClock.now
    settings = ServerSettings(limits: limits, now: now ?? { start })
    registry = ConnectionRegistry(settings, of: shard, on: loop)
    yieldQueue = YieldQueue(-1, settings.now)
    registry.yieldQueue = yieldQueue
    // because the test's thread is the loop's.
    nonisolated(unsafe) let registry = registry
    shard.assumeIsolated { registry.configure($0) }
    // So that the clock is not near zero.
    loop.advanceTime(by: .hours(1))
  }

  /// Returns a connection.
  /// - Parameter before: A handler between the connection and the client.
  func connect(through before: any ChannelHandler) throws -> EmbeddedChannel {
    try connect([before, handler(isWebSocket: false)])
  }

  /// Returns an open WebSocket.
  /// - Parameter before: A handler between the connection and the client.
  func connectWebSocket(
    through before: any ChannelHandler
  ) throws -> EmbeddedChannel {
    let handler = handler(isWebSocket: true)
    let webSocket = WebSocketHandler(settings: settings, connection: handler)
    handler.webSocket = webSocket
    return try connect([before, webSocket, handler])
  }

  private func handler(isWebSocket: Bool) -> ConnectionHandler {
    ConnectionHandler(
      shard: shard, registry: registry, isRemote: false, over: isWebSocket ? .webSocket : .tcp)
  }

  /// Ends a channel that has never been active, as one whose client was gone when it was accepted.
  /// - Returns: The handler of its connection.
  func endBeforeActive() throws -> ConnectionHandler {
    let channel = EmbeddedChannel(loop: loop)
    let handler = handler(isWebSocket: false)
    // Unlike a socket, an embedded channel reports its end also then.
    try channel.pipeline.syncOperations.addHandlers([EndFilter(), handler])
    _ = try channel.finish(acceptAlreadyClosed: true)
    loop.run()
    return handler
  }

  private func connect(_ handlers: [any ChannelHandler]) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(loop: loop)
    for handler in handlers { try channel.pipeline.syncOperations.addHandler(handler) }
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channels.append(channel)
    return channel
  }

  /// Ends all connections.
  func stop() throws {
    for channel in channels { _ = try channel.finish(acceptAlreadyClosed: true) }
    loop.run()
  }
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
