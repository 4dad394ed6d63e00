// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// Tells a peer that is not served why, and closes.
final class RefusingHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let refusal: Refusal

  init(_ refusal: Refusal) { self.refusal = refusal }

  func channelActive(context: ChannelHandlerContext) {
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: refusal.line))).whenComplete { _ in
      bound.value.close(mode: .output, promise: nil)
    }
    context.eventLoop.scheduleTask(in: .seconds(1)) { bound.value.close(promise: nil) }
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
