// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Logging
package import NIOCore
internal import ServerCore
internal import TransportSupport

/// The pauses of all listeners of a server. They accept no connections
///
/// - for a short time after `accept` has found no descriptor or memory. Without a pause, the connections that
///   wait to be accepted would keep the loop busy.
/// - while several accepted sockets are neither counted nor closed, which the loops of the connections do.
///   Without a limit, many clients that connect at the same time would take the descriptors of files.
///
/// NIO's `AcceptBackoffHandler` delays `read`, but a listener whose `accept` has failed still waits
/// from its last `read` (swift-nio 2.101). So `autoRead` is turned off here.
///
/// On the loop of the listeners only.
package final class AcceptGate {
  private static let pause = TimeAmount.milliseconds(200)
  /// Failures closer together than this are one incident, which is logged once.
  private static let quiet = TimeAmount.seconds(10)
  /// The most sockets of a server with many descriptors that are accepted and neither counted nor closed.
  static let usualUncounted = 8

  private let logger: Logger?
  private let loop: any EventLoop
  private let maximumUncounted: Int
  private var listeners: [any Channel] = []
  private(set) var isAccepting = true
  private var isPaused = false
  private var lastFailure: NIODeadline?
  /// The accepted sockets that are neither counted nor closed.
  private var uncounted: [ObjectIdentifier: any Channel] = [:]

  /// - Parameters:
  ///   - logger: The log; nil for none.
  ///   - maximumUncounted: The most sockets that are accepted and neither counted nor closed.
  ///   - loop: The loop of the listeners.
  package init(_ logger: Logger?, maximumUncounted: Int, on loop: any EventLoop) {
    self.logger = logger
    self.loop = loop
    self.maximumUncounted = maximumUncounted
  }

  /// - Parameters:
  ///   - settings: The log, and the limit of refused connections, which is small if there are few descriptors.
  ///   - loop: The loop of the listeners.
  convenience init(_ settings: ServerSettings, on loop: any EventLoop) {
    self.init(
      settings.logger,
      maximumUncounted: min(Self.usualUncounted, max(2, settings.limits.refusedConnections)),
      on: loop)
  }

  func add(_ listener: any Channel) {
    listeners.append(listener)
    if !isAccepting { setAutoRead(of: listener) }
  }

  func remove(_ listener: any Channel) { listeners.removeAll { $0 === listener } }

  /// Records that a listener has accepted a socket.
  func accepted(_ socket: any Channel) {
    uncounted[ObjectIdentifier(socket)] = socket
    update()
  }

  /// Records that a socket was counted or closed.
  func countedOrClosed(_ socket: any Channel) {
    uncounted[ObjectIdentifier(socket)] = nil
    update()
  }

  /// Handles an error of `accept`.
  func failed(_ error: any Error) {
    guard let error = error as? IOError,
      [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode), !isPaused
    else { return }
    if lastFailure.map({ NIODeadline.now() - $0 > Self.quiet }) ?? true {
      logger?.warning(
        "cannot accept connections; new ones wait until descriptors or memory are free",
        metadata: ["reason": "\(systemMessage(error.errnoCode))"])
    }
    lastFailure = NIODeadline.now()
    isPaused = true
    update()
    let gate = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: Self.pause) { gate.value.pauseEnded() }
  }

  private func pauseEnded() {
    isPaused = false
    update()
  }

  private func update() {
    let accepts = !isPaused && uncounted.count < maximumUncounted
    guard accepts != isAccepting else { return }
    isAccepting = accepts
    for listener in listeners { setAutoRead(of: listener) }
  }

  private func setAutoRead(of listener: any Channel) {
    try? listener.syncOptions?.setOption(.autoRead, value: isAccepting)
  }
}
