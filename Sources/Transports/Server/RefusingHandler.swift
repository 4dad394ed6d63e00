// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Tells a peer that comes when there is no room, and closes.
final class RefusingHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let message = """
    {"jsonrpc":"2.0","id":null,"error":{"code":-32015,\
    "message":"the server has as many connections as it may have",\
    "data":{"limit":"connections"}}}\n
    """

  func channelActive(context: ChannelHandlerContext) {
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.message))).whenComplete { _ in
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
