// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import NIOCore
internal import ServerCore

// What strangers may do: how long they may say nothing, or read nothing, and how much they may send.
extension ConnectionHandler {
  /// Looks whether the peer has said nothing for too long.
  func sweep(_ now: ContinuousClock.Instant) {
    if isClosing {
      // It is to read what is left, in its time; nothing is left that it does not read at all.
      if unreadTimeout.look(now, waitingBytes: unread(of: bufferedBytes), Self.timeWithoutReading) {
        context?.close(promise: nil)
      }
      return
    }
    guard isRemote, let connection else { return }
    webSocket?.sweep(now, isRead: !readGate.isHeldBack)
    // It has had a second to read why.
    if wasRefused { return abandon() }
    if connection.life.isRefused {
      wasRefused = true
      return
    }
    if unreadTimeout.look(now, waitingBytes: unread(of: waitingBytes), settings.limits.unreadTime) {
      settings.logger.info("a peer that has read nothing was closed")
      return abandon()
    }
    let isBusy = !connection.isIdle || waitingBytes > 0
    let isKnown = connection.isAuthorised
    if let refusal = idleTimeout.look(
      now, messages: connection.messageCount, isKnown: isKnown, isBusy: isBusy, settings.limits)
    {
      return refuse(refusal)
    }
    if frameTimeout.look(
      now, messages: connection.messageCount, isOpen: isInFrame(connection) && !readGate.isPaced,
      settings.limits.frameTime)
    {
      refuse(.frameTime)
    }
  }

  /// How many bytes the peer has not read: those in the channel, if there are any, and those that the
  /// kernel has taken off it.
  private func unread(of channelBytes: Int) -> Int {
    guard channelBytes > 0, let context else { return 0 }
    var kernelBytes: CInt = 0
    _ = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { ioctl($0, UInt(TIOCOUTQ), &kernelBytes) }
    return channelBytes + Int(kernelBytes)
  }

  /// Whether a frame has begun, and the peer could end it.
  private func isInFrame(_ connection: Connection) -> Bool {
    guard let webSocket else { return connection.isInFrame }
    return connection.wantsBytes && webSocket.isInMessage
  }

  /// Reads no more for a while if more has come than is to be read in this time: the sockets in
  /// between hold the peer up, which needs no error.
  func pace(_ count: Int, _ context: ChannelHandlerContext) {
    guard let wait = readGate.count(count, at: settings.now()) else { return }
    pace(after: wait, context)
  }

  private func pace(after wait: Duration, _ context: ChannelHandlerContext) {
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: TimeAmount(wait)) {
      let handler = handler.value
      let wait = handler.readGate.paceIsOver(at: handler.settings.now())
      guard let context = handler.context else { return }
      if let wait { handler.pace(after: wait, context) }
      handler.resumeReading()
    }
  }

  // A peer that is to read what is left may pause this long.
  private static let timeWithoutReading = Duration.seconds(30)
}
