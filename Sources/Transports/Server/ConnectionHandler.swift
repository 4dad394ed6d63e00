// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import ServerCore

/// Carries bytes between a channel and its connection, entering the shard once per read.
final class ConnectionHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let shard: Shard
  private let settings: ServerSettings
  private let registry: ConnectionRegistry
  private var context: ChannelHandlerContext?
  private var connection: Connection?
  private var isReadHeldBack = false
  private var isInTurn = false
  private var isClosing = false

  init(shard: Shard, settings: ServerSettings, registry: ConnectionRegistry) {
    self.shard = shard
    self.settings = settings
    self.registry = registry
  }

  /// Tells the connection, as one turn of the shard.
  ///
  /// Entering costs some hundred nanoseconds, so it is done once per read and not per message.
  private func tell(_ event: Connection.Event) {
    guard let current = connection else { return }
    // because the channel's event loop is the shard's executor, which `assumeIsolated` checks,
    // nothing is sent anywhere; the compiler cannot know that the two are the same.
    nonisolated(unsafe) let (connection, event) = (current, event)
    isInTurn = true
    defer { isInTurn = false }
    shard.assumeIsolated { shard in
      shard.turn { connection.take(event, isolation: shard) }
    }
  }

  /// Ends the connection once what it has asked for has been answered, or time has run out.
  func finish() {
    tell(.inputEnded)
    guard connection != nil, let context else { return }
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.timeForOpenAnswers) {
      handler.value.tell(.timeIsUp)
    }
  }

  // What is asked for before the end of input gets this long.
  private static let timeForOpenAnswers = TimeAmount.seconds(3)
  // A peer that is told goodbye gets this long to read it.
  private static let timeToRead = TimeAmount.seconds(2)
}

// MARK: - What the channel says

extension ConnectionHandler {
  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { begin() }
  }

  func channelActive(context: ChannelHandlerContext) {
    begin()
    context.fireChannelActive()
  }

  private func begin() {
    guard connection == nil else { return }
    // because this runs on the shard's executor; see `tell`.
    nonisolated(unsafe) let handler = self
    shard.assumeIsolated { shard in
      handler.connection = Connection(
        settings: handler.settings, output: handler, isolation: shard)
    }
    registry.add(self)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosing else { return }
    unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
      tell(.received(bytes))
    }
  }

  /// Reading stops while the peer does not read: back-pressure, not memory.
  func read(context: ChannelHandlerContext) {
    if isClosing || connection?.wantsBytes ?? true {
      context.read()
    } else {
      isReadHeldBack = true
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    // A write in this turn can change it to and fro; the connection looks for itself then.
    guard !isInTurn, context.channel.isWritable else { return }
    tell(.caughtUp)
    if isReadHeldBack, connection?.wantsBytes ?? true {
      isReadHeldBack = false
      context.read()
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .inputClosed? = event as? ChannelEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    if isClosing { context.close(promise: nil) } else { finish() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    settings.logger.debug("a connection broke", metadata: ["error": "\(error)"])
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    tell(.disconnected)
    connection = nil
    self.context = nil
    registry.remove(self)
    context.fireChannelInactive()
  }
}

// MARK: - What the connection says

extension ConnectionHandler: ConnectionOutput {
  func write(_ bytes: UnsafeRawBufferPointer) {
    guard let context else { return }
    var buffer = context.channel.allocator.buffer(capacity: bytes.count)
    buffer.writeBytes(bytes)
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }

  var isCongested: Bool { context.map { !$0.channel.isWritable } ?? false }

  var waitingBytes: Int {
    guard let channel = context?.channel, !channel.isWritable else { return 0 }
    return (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  /// Sends what is written, then closes our direction, and reads on until the peer has closed its:
  /// closing with bytes unread would take back what the peer has not read yet.
  func close() {
    guard let context, !isClosing else { return }
    isClosing = true
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in
      bound.value.close(mode: .output, promise: nil)
    }
    context.eventLoop.scheduleTask(in: Self.timeToRead) {
      bound.value.close(promise: nil)
    }
    if isReadHeldBack { context.read() }
  }
}
