// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import NIOCore
internal import TransportSupport

/// Pauses a listener when `accept` finds no descriptor or memory left. Without a pause, the
/// connections that wait to be accepted would keep the loop busy.
///
/// NIO's `AcceptBackoffHandler` delays `read`, but a listener whose `accept` has failed still waits
/// from its last `read` (swift-nio 2.101). So `autoRead` is turned off here.
final class AcceptBackoff: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private static let pause = TimeAmount.milliseconds(200)
  /// Failures closer together than this are one incident, which is logged once.
  private static let quiet = TimeAmount.seconds(10)

  private let logger: Logger
  private var isPausing = false
  private var lastFailure: NIODeadline?

  init(_ logger: Logger) { self.logger = logger }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? IOError,
      [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode), !isPausing
    else { return }
    isPausing = true
    if lastFailure.map({ .now() - $0 > Self.quiet }) ?? true {
      logger.warning(
        "cannot accept connections; new ones wait until descriptors or memory are free",
        metadata: ["reason": "\(systemMessage(error.errnoCode))"])
    }
    lastFailure = .now()
    let options = context.channel.syncOptions
    try? options?.setOption(.autoRead, value: false)
    let handler = NIOLoopBound((self, context.channel), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.pause) {
      let (pause, channel) = handler.value
      pause.isPausing = false
      try? channel.syncOptions?.setOption(.autoRead, value: true)
    }
  }
}
