// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The handler of a listener, which notifies the gate.
final class AcceptHandler: ChannelInboundHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel

  private let gate: AcceptGate

  init(_ gate: AcceptGate) { self.gate = gate }

  func handlerAdded(context: ChannelHandlerContext) { gate.add(context.channel) }
  func handlerRemoved(context: ChannelHandlerContext) { gate.remove(context.channel) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    gate.accepted(unwrapInboundIn(data))
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { gate.failed(error) }
}
