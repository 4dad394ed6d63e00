// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// Sends a client the reason why it is not served, and closes.
final class RefusingHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let refusal: Refusal
  /// The task that closes the channel if the client takes too long.
  private var closing: Scheduled<Void>?

  init(_ refusal: Refusal) { self.refusal = refusal }

  /// The time for the TLS handshake, before which no reason can be sent.
  private static let timeToHandshake = TimeAmount.seconds(5)

  func channelActive(context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    close(context, in: Self.timeToHandshake)
    // Over TLS this write completes after the handshake.
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: refusal.line))).whenComplete { _ in
      let (handler, context) = bound.value
      context.close(mode: .output, promise: nil)
      if context.channel.isActive {
        handler.close(context, in: TimeAmount(ConnectionTimes.toClose))
      }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    closing?.cancel()
    closing = nil
    context.fireChannelInactive()
  }

  private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
    closing?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    closing = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
  }

  /// Ignores what the client sends.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
