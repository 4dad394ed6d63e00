// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import NIOTLS
internal import ServerCore

/// Waits for the end of a TLS handshake; then it replaces itself with the handler that serves the
/// client.
///
/// So a client that stops during the handshake has no connection object, and is closed after a time
/// limit.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler, PendingClient {
  typealias InboundIn = ByteBuffer

  private let settings: ServerSettings
  private let registry: ConnectionRegistry
  private let next: () -> any ChannelHandler
  let since: ContinuousClock.Instant
  private var context: ChannelHandlerContext?

  // Applies also where the time to the first request has no limit.
  private static let longestTime = Duration.seconds(10)

  init(
    settings: ServerSettings, registry: ConnectionRegistry,
    next: @escaping () -> any ChannelHandler
  ) {
    self.settings = settings
    self.registry = registry
    self.next = next
    since = settings.now()
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    registry.add(self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    registry.remove(self)
  }

  func channelInactive(context: ChannelHandlerContext) {
    registry.remove(self)
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .handshakeCompleted? = event as? TLSUserEvent else {
      if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
      return
    }
    do {
      let pipeline = context.pipeline.syncOperations
      try pipeline.addHandler(next(), position: .after(self))
      pipeline.removeHandler(self, promise: nil)
    } catch {
      context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    settings.logger.debug("a TLS handshake failed", metadata: ["error": "\(error)"])
    context.close(promise: nil)
  }

  /// Closes the connection if the handshake takes too long.
  func sweep(_ now: ContinuousClock.Instant) {
    let limit = settings.limits.timeToFirstRequest ?? Self.longestTime
    guard since.duration(to: now) >= limit else { return }
    settings.logger.info("closed a connection: the TLS handshake did not end in time")
    abandon()
  }

  var channel: (any Channel)? { context?.channel }
  var isRead: Bool { true }
  var hasUnsentResponse: Bool { false }

  func finish() { abandon() }

  func abandon() { context?.close(promise: nil) }
}
