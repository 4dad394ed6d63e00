// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import NIOCore
internal import ServerCore
internal import TransportSupport

/// Decides when a listener accepts connections. It pauses
///
/// - when `accept` finds no descriptor or memory left. Without a pause, the connections that wait to be
///   accepted would keep the loop busy.
/// - while accepted sockets are neither counted nor closed, which the loops of the connections do. Without a
///   limit, many clients that connect at the same time would take the descriptors of files.
///
/// NIO's `AcceptBackoffHandler` delays `read`, but a listener whose `accept` has failed still waits
/// from its last `read` (swift-nio 2.101). So `autoRead` is turned off here.
final class AcceptGate: ChannelInboundHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel

  private static let pause = TimeAmount.milliseconds(200)
  /// Failures closer together than this are one incident, which is logged once.
  private static let quiet = TimeAmount.seconds(10)

  private let logger: Logger
  private let mostArriving: Int
  private var context: ChannelHandlerContext?
  private var isAccepting = true
  private var isCheckScheduled = false
  /// The end of the pause after a failure; nil without one.
  private var pauseEnd: NIODeadline?
  private var lastFailure: NIODeadline?
  /// The accepted sockets that are neither counted nor closed.
  private var arriving: [ObjectIdentifier: any Channel] = [:]

  /// - Parameter settings: The log, and the limit of refused connections, which is small if there are few
  ///   descriptors.
  init(_ settings: ServerSettings) {
    logger = settings.logger
    mostArriving = min(8, max(2, settings.limits.refusedConnections))
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let child = unwrapInboundIn(data)
    arriving[ObjectIdentifier(child)] = child
    update()
    context.fireChannelRead(data)
  }

  /// Records that a socket was counted or closed.
  fileprivate func settled(_ child: any Channel) {
    arriving[ObjectIdentifier(child)] = nil
    update()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? IOError,
      [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode), pauseEnd == nil
    else { return }
    pauseEnd = .now() + Self.pause
    if lastFailure.map({ .now() - $0 > Self.quiet }) ?? true {
      logger.warning(
        "cannot accept connections; new ones wait until descriptors or memory are free",
        metadata: ["reason": "\(systemMessage(error.errnoCode))"])
    }
    lastFailure = .now()
    update()
  }

  private func update() {
    let accepts = pauseEnd == nil && arriving.count < mostArriving
    guard let context else { return }
    if !accepts { checkLater(context.eventLoop) }
    guard accepts != isAccepting else { return }
    isAccepting = accepts
    try? context.channel.syncOptions?.setOption(.autoRead, value: accepts)
  }

  private func checkLater(_ loop: any EventLoop) {
    guard !isCheckScheduled else { return }
    isCheckScheduled = true
    let gate = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: Self.pause) { gate.value.check() }
  }

  private func check() {
    isCheckScheduled = false
    if let end = pauseEnd, end <= .now() { pauseEnd = nil }
    // Those whose options could not be set were closed before their loop has seen them.
    arriving = arriving.filter { $0.value.isActive }
    update()
  }
}

extension NIOLoopBoundBox<AcceptGate> {
  /// Notifies the gate, on the loop of the listener, when a socket was counted or closed.
  ///
  /// - Parameter entered: Completes when the socket was counted; fails if it is closed.
  /// - Returns: The same future.
  func settle(
    _ child: any Channel, _ entered: EventLoopFuture<Void>, on loop: any EventLoop
  ) -> EventLoopFuture<Void> {
    let settled = { @Sendable in
      if loop.inEventLoop { return self.value.settled(child) }
      loop.execute { self.value.settled(child) }
    }
    entered.whenComplete { result in
      switch result {
      case .success: settled()
      case .failure: child.closeFuture.whenComplete { _ in settled() }
      }
    }
    return entered
  }
}
