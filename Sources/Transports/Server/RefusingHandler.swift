// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// Tells a peer that is not served why, and closes.
final class RefusingHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let refusal: Refusal

  init(_ refusal: Refusal) { self.refusal = refusal }

  /// How long a peer may take over TLS until it can be told anything.
  private static let timeToHear = TimeAmount.seconds(10)
  /// How long a peer that was told may go on.
  private static let timeToLeave = TimeAmount.seconds(1)

  func channelActive(context: ChannelHandlerContext) {
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    let close: @Sendable () -> Void = { bound.value.close(promise: nil) }
    // Over TLS this waits for the handshake.
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: refusal.line))).whenComplete { _ in
      bound.value.close(mode: .output, promise: nil)
      bound.value.eventLoop.scheduleTask(in: Self.timeToLeave, close)
    }
    context.eventLoop.scheduleTask(in: Self.timeToHear, close)
  }

  /// What the peer has sent is not looked at.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
