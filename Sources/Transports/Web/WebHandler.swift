// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServerCore

/// Answers a peer over HTTP until it asks for a WebSocket; then the handlers of that take its place.
///
/// Answers are written one after the other, the next one when the peer has read what came before.
final class WebHandler: ChannelDuplexHandler, RemovableChannelHandler, PendingClient {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let settings: ServerSettings
  private let registry: ConnectionRegistry
  private let router: WebRouter
  /// Whether the peer has come to an address that only this machine has.
  private let isLoopback: Bool
  /// Why nothing is served; nil: it is.
  private let refusal: Refusal?
  /// Makes what serves the messages of a WebSocket.
  private let connection: () -> ConnectionHandler

  private var context: ChannelHandlerContext?
  /// What has come and has not been used.
  private var pending = ByteBuffer()
  private var isReadHeldBack = false
  private var hasInputEnded = false
  /// Nothing more is answered.
  private var isClosing = false
  /// Everything written has gone out, and nothing follows.
  private var hasSent = false
  /// A write can make the channel call back before it returns.
  private var isInAnswers = false
  /// A file is being read for an answer.
  private var isAnswering = false
  /// When the last answer was given, or the peer came.
  private(set) var since: ContinuousClock.Instant
  private var unreadTimeout: UnreadTimeout
  /// Closes the connection when the peer takes too long.
  private var closing: Scheduled<Void>?

  // Where the first request may take for ever, this may not.
  private static let longestTime = Duration.seconds(10)
  /// How long who is not served may take to ask for anything, over TLS behind the handshake.
  private static let timeToAsk = TimeAmount.seconds(5)
  /// How long who has been told everything may go on.
  private static let timeToLeave = TimeAmount.seconds(1)

  /// - Parameters:
  ///   - settings: The limits and the log.
  ///   - registry: Who looks after silent peers.
  ///   - router: Decides on requests.
  ///   - isLoopback: Whether the peer has come to an address that only this machine has.
  ///   - refusal: Why nothing is served; nil: it is.
  ///   - connection: Makes what serves the messages of a WebSocket.
  init(
    settings: ServerSettings, registry: ConnectionRegistry, router: WebRouter,
    isLoopback: Bool, refusal: Refusal?, connection: @escaping () -> ConnectionHandler
  ) {
    self.settings = settings
    self.registry = registry
    self.router = router
    self.isLoopback = isLoopback
    self.refusal = refusal
    self.connection = connection
    since = settings.now()
    unreadTimeout = UnreadTimeout(since: since)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    registry.add(self)
    // Who is not served is told if it asks, but does not take a place for long.
    if refusal != nil { close(context, in: Self.timeToAsk) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    registry.remove(self)
  }

  func channelInactive(context: ChannelHandlerContext) {
    closing?.cancel()
    closing = nil
    registry.remove(self)
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosing else { return }
    var bytes = unwrapInboundIn(data)
    if pending.readableBytes == 0 { pending = bytes } else { pending.writeBuffer(&bytes) }
    answer(context)
  }

  /// Reading stops while something waits, and while the peer does not read.
  func read(context: ChannelHandlerContext) {
    if isClosing || context.channel.isWritable && !isAnswering {
      context.read()
    } else {
      isReadHeldBack = true
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable, !isClosing {
      answer(context)
      readAgain(context)
    }
    context.fireChannelWritabilityChanged()
  }

  private func readAgain(_ context: ChannelHandlerContext) {
    guard isReadHeldBack else { return }
    isReadHeldBack = false
    context.channel.read()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .inputClosed? = event as? ChannelEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    hasInputEnded = true
    if hasSent { context.close(promise: nil) } else { answer(context) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    settings.logger.debug("a connection broke", metadata: ["error": "\(error)"])
    context.close(promise: nil)
  }
}

// MARK: - Answers

extension WebHandler {
  /// Answers what has come, as far as the peer reads.
  private func answer(_ context: ChannelHandlerContext) {
    guard !isInAnswers else { return }
    isInAnswers = true
    defer { isInAnswers = false }
    while !isClosing, !isAnswering, context.channel.isWritable {
      do throws(RequestHead.Fault) {
        let read = try pending.withUnsafeReadableBytes { bytes throws(RequestHead.Fault) in
          try RequestHead.read(bytes)
        }
        guard let (head, count) = read else { break }
        pending.moveReaderIndex(forwardBy: count)
        guard carryOut(head, context) else { return }
      } catch {
        send(WebAnswer(error.status, "this is no HTTP that is spoken here"), context)
      }
    }
    if pending.readableBytes == 0 { pending = ByteBuffer() }
    if hasInputEnded, !isClosing, !isAnswering, context.channel.isWritable { close(context) }
  }

  /// - Returns: Whether the connection is still ours.
  private func carryOut(_ head: RequestHead, _ context: ChannelHandlerContext) -> Bool {
    if let refusal {
      send(
        WebAnswer(.unavailable, String(decoding: refusal.line.dropLast(), as: UTF8.self)), context)
      return true
    }
    switch router.decide(head, isLoopback: isLoopback) {
    case .answer(var answer):
      answer.isHeadOnly = head.method == "HEAD"
      send(answer, context)
      return true
    case .read(let folder, let names):
      read(folder, names, head, context)
      return true
    case .upgrade(let accept, let subprotocol, let isEcho):
      upgrade(WebAnswer.upgrade(accept, subprotocol: subprotocol), isEcho: isEcho, context)
      return false
    }
  }

  /// Answers with a file of a folder, which is read on another thread.
  private func read(
    _ folder: WebFolder, _ names: [String], _ head: RequestHead, _ context: ChannelHandlerContext
  ) {
    isAnswering = true
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    NIOThreadPool.singleton.runIfActive(eventLoop: context.eventLoop) { folder.read(names) }
      .whenComplete { result in
        let handler = bound.value
        guard let context = handler.context else { return }
        handler.isAnswering = false
        let reading = (try? result.get()) ?? .missing
        var answer = handler.router.answer(head, with: reading)
        answer.isHeadOnly = head.method == "HEAD"
        handler.send(answer, context, holding: reading)
        handler.answer(context)
        handler.readAgain(context)
      }
  }

  /// - Parameter reading: What is needed until the answer has gone out.
  private func send(
    _ answer: WebAnswer, _ context: ChannelHandlerContext,
    holding reading: WebFolder.Reading = .missing
  ) {
    since = settings.now()
    context.writeAndFlush(wrapOutboundOut(answer.bytes())).whenComplete { _ in
      withExtendedLifetime(reading) {}
    }
    if answer.closes { close(context) }
  }

  /// Sends what is written, closes our direction, and waits a moment for the peer to close its.
  private func close(_ context: ChannelHandlerContext) {
    isClosing = true
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in
      let (handler, context) = bound.value
      handler.hasSent = true
      if handler.hasInputEnded { return context.close(promise: nil) }
      context.close(mode: .output, promise: nil)
      if context.channel.isActive { handler.close(context, in: Self.timeToLeave) }
    }
    readAgain(context)
  }

  private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
    closing?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    closing = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
  }

  private func upgrade(_ answer: ByteBuffer, isEcho: Bool, _ context: ChannelHandlerContext) {
    isClosing = true
    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    let connection = isEcho ? nil : connection()
    let webSocket = WebSocketHandler(settings: settings, connection: connection)
    do {
      let pipeline = context.pipeline.syncOperations
      if let connection {
        connection.webSocket = webSocket
        try pipeline.addHandler(connection, position: .after(self))
      }
      try pipeline.addHandler(webSocket, position: .after(self))
      // What has come behind the head is the WebSocket's, and so is the end.
      if pending.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(pending)) }
      if hasInputEnded { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
      let channel = context.channel
      pipeline.removeHandler(self, promise: nil)
      if isReadHeldBack { channel.read() }
    } catch {
      context.close(promise: nil)
    }
  }
}

// MARK: - What comes with time

extension WebHandler {
  /// Looks whether the peer says or reads nothing for too long.
  func sweep(_ now: ContinuousClock.Instant) {
    guard let context else { return }
    let waiting =
      context.channel.isWritable
      ? 0 : (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    if waiting > 0 {
      since = now
      if unreadTimeout.look(now, waitingBytes: waiting, settings.limits.unreadTime) { abandon() }
      return
    }
    _ = unreadTimeout.look(now, waitingBytes: 0, nil)
    let limit = settings.limits.timeToFirstRequest ?? Self.longestTime
    if since.duration(to: now) >= limit { abandon() }
  }

  func abandon() { context?.close(promise: nil) }
}
