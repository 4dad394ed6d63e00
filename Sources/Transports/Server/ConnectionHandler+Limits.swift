// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import NIOCore
internal import ServerCore

// The limits of untrusted clients: how long they may send or read nothing, and how much they may
// send.
extension ConnectionHandler {
  /// Refuses or closes the connection if it has exceeded a time limit; called once a second.
  func sweep(_ now: ContinuousClock.Instant) {
    if isClosing {
      // The client may read the rest of the output slowly, but must read some of it.
      if unreadTimeout.check(
        now, waitingBytes: unread(of: bufferedBytes), ConnectionTimes.withoutReading)
      {
        context?.close(promise: nil)
      }
      return
    }
    guard isRemote, let status = place.status else { return }
    webSocket?.sweep(now, readsInput: !readGate.isHeldBack)
    // The client has had a second to read the reason.
    if wasRefused { return abandon() }
    if status.isRefused {
      wasRefused = true
      return
    }
    if unreadTimeout.check(now, waitingBytes: unread(of: waitingBytes), settings.limits.unreadTime)
    {
      settings.logger.info(
        "closed a connection: the client has read nothing for too long", metadata: logMetadata())
      return abandon()
    }
    let isBusy = !status.isIdle || waitingBytes > 0
    if let refusal = idleTimeout.check(
      now, messages: status.messageCount, isAuthorised: status.isAuthorised, isBusy: isBusy,
      settings.limits)
    {
      return refuse(refusal)
    }
    if frameTimeout.check(
      now, messages: status.messageCount, isOpen: isInFrame(status) && !readGate.isPaced,
      settings.limits.frameTime)
    {
      refuse(.frameTime)
    }
  }

  /// Counts the bytes that the client has not read: those in the channel and those in the kernel's
  /// send buffer.
  ///
  /// - Returns: 0 if `channelBytes` is 0.
  private func unread(of channelBytes: Int) -> Int {
    guard channelBytes > 0, let context else { return 0 }
    var kernelBytes: CInt = 0
    _ = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { ioctl($0, UInt(TIOCOUTQ), &kernelBytes) }
    return channelBytes + Int(kernelBytes)
  }

  /// True while a frame has begun and its rest would be read.
  private func isInFrame(_ status: ConnectionStatus) -> Bool {
    guard let webSocket else { return status.isInFrame }
    return status.wantsBytes && webSocket.isInMessage
  }

  /// Pauses reading if the client has sent more than its rate allows. The buffers of the sockets
  /// then slow the client down, without an error.
  func pace(_ count: Int, _ context: ChannelHandlerContext) {
    metrics.receivedBytes.add(count)
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
}
