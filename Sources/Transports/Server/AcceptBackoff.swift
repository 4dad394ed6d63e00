// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import NIOCore
internal import TransportSupport

/// Lets a listener rest for a moment when there is no descriptor left to accept with: who waits to
/// be accepted would keep the loop busy otherwise.
///
/// NIO's `AcceptBackoffHandler` holds back `read`, but a listener whose `accept` has failed is still
/// waiting from its last one (swift-nio 2.101), so it is turned off here.
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
        "no connection can be accepted for now; new ones wait",
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
