// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

// The output of the connection.

extension ConnectionHandler: ConnectionOutput, CoalescedOutput {
  func write(_ bytes: UnsafeRawBufferPointer) {
    guard let context else { return }
    send(Self.buffer(of: bytes, context), context)
  }

  /// Writes a broadcast buffer. All clients share its memory.
  func write(_ buffer: BroadcastBuffer, from start: Int) {
    guard let context else { return }
    let sent =
      buffer.sent as? SentBuffer
      ?? SentBuffer(buffer.bytes.withUnsafeBytes { Self.buffer(of: $0, context) })
    buffer.sent = sent
    unsentBytes = 0
    let bytes = sent.bytes(from: start)
    metrics.sentBytes.add(bytes.readableBytes)
    context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
  }

  private static func buffer(
    of bytes: UnsafeRawBufferPointer, _ context: ChannelHandlerContext
  ) -> ByteBuffer {
    var buffer = context.channel.allocator.buffer(capacity: bytes.count)
    buffer.writeBytes(bytes)
    return buffer
  }

  private func send(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
    unsentBytes += buffer.readableBytes
    metrics.sentBytes.add(buffer.readableBytes)
    // A large held write would fill the channel, as if the client did not read.
    if !coalescesWrites || registry.hasOneConnection || unsentBytes >= Self.coalescedBytes {
      unsentBytes = 0
      return context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }
    context.write(wrapOutboundOut(buffer), promise: nil)
    guard !isHeld else { return }
    isHeld = true
    registry.writeCoalescer.hold(self)
  }

  func flushCoalesced() {
    isHeld = false
    flush()
  }

  private func flush() {
    guard unsentBytes > 0, let context else { return }
    unsentBytes = 0
    context.flush()
  }

  var waitingBytes: Int { isCongested ? bufferedBytes : 0 }

  /// Number of bytes that the channel holds for the client.
  var bufferedBytes: Int {
    (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  func resumeReading() {
    guard readGate.isHeldBack else { return }
    switch readGate.decide(isWanted: place.wantsBytes, mustQueue: mustQueue) {
    case .wait: break
    case .read: context?.read()
    case .queue:
      registry.yieldQueue?.wait { [self] in
        readGate.wasQueued()
        guard case .read = readGate.decide(isWanted: place.wantsBytes, mustQueue: false) else {
          return .zero
        }
        context?.read()
        return loopTime.lastTurn
      }
    }
  }

  func yieldToOthers() {
    registry.yieldQueue?.wait { [self] in
      willServe(0)
      notify(.othersServed)
      return .zero
    }
  }

  /// Sends what is written, ends the output, and reads until the client has ended its own
  /// direction. Closing with unread bytes would reset the connection and discard what the client
  /// has not read yet.
  func endOutput() {
    guard let context else { return }
    registry.sentLastResponse(self)
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in
      guard let context = handler.value.context else { return }
      context.close(mode: .output).whenComplete { _ in
        guard let context = handler.value.context else { return }
        handler.value.outsideOfTurns(context) { $0.notify(.outputEnded) }
      }
    }
    if readGate.isHeldBack { context.read() }
  }

  func awaitInputEnd() {
    guard let context else { return }
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: TimeAmount(ConnectionTimes.toClose)) {
      bound.value.close(promise: nil)
    }
  }

  func admit(_ identity: Identity) -> Bool {
    guard registry.counts.admit(identity) else { return false }
    identityTime = registry.time(of: identity)
    return true
  }

  func close() {
    // These bytes belong to earlier turns.
    flush()
    registry.sentLastResponse(self)
    context?.close(promise: nil)
  }

  /// Closes immediately and drops unsent bytes.
  func abandon() {
    notify(.cut)
    // While the lease of a node is over, actions of a connection wait, also the one that closes it.
    context?.close(promise: nil)
  }
}
