// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import ServerCore

/// Makes a WebSocket of a channel: takes messages out of frames for the connection's handler, which
/// is next, and answers the frames that are about the WebSocket itself.
///
/// To that handler the close of a peer is the end of its input, and what it writes are frames already;
/// when it ends its output, our close goes out. So a WebSocket is a connection like any other, with
/// the same turns, limits and back-pressure.
///
/// - Source: RFC 6455 §5.5 (control frames), §7 (closing).
final class WebSocketHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let settings: ServerSettings
  /// Takes the messages; nil: they are sent back, for tests of the protocol.
  private let connection: ConnectionHandler?
  private var context: ChannelHandlerContext?
  private var reader: WebSocketReader
  /// What is being read.
  private var chunk = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var isReading = false
  /// What goes out beside the connection's messages: pongs, and echoes.
  private var out = ByteBuffer()

  /// What our close says; the connection's reasons to end one are all told in a frame before it.
  private var closeCode: WebSocketCloseCode? = .policyViolation
  /// Nothing more is read: the peer has closed, or what it sends breaks the protocol.
  private var hasEnded = false
  private var hasClosed = false
  private var hasSentClose = false
  private var isReadHeldBack = false

  /// Something has come since the last look.
  private var hasHeard = false
  private var keepAlive: KeepAlive

  /// - Parameters:
  ///   - settings: The limits and the log.
  ///   - connection: Takes the messages; nil: they are sent back.
  init(settings: ServerSettings, connection: ConnectionHandler?) {
    self.settings = settings
    self.connection = connection
    reader = WebSocketReader(maximumMessageBytes: settings.limits.frameBytes)
    keepAlive = KeepAlive(since: settings.now())
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    context.fireChannelInactive()
  }

  /// Whether a message has begun and not ended.
  var isInMessage: Bool { !hasEnded && reader.isInMessage }
}

// MARK: - What the peer says

extension WebSocketHandler: FrameSource {
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    hasHeard = true
    // A write that notices that the peer is gone hands over what it had still sent, in the middle of
    // what is read; nobody is left to be answered.
    guard !hasEnded, !isReading else { return }
    isReading = true
    defer { isReading = false }
    var buffer = unwrapInboundIn(data)
    buffer.withUnsafeMutableReadableBytes { bytes in
      chunk = bytes
      if let connection { connection.receive(from: self, byteCount: bytes.count) } else { echo() }
      chunk = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
    if out.readableBytes > 0, !hasClosed {
      context.writeAndFlush(wrapOutboundOut(out), promise: nil)
    }
    out = ByteBuffer()
    if hasEnded { endInput(context) }
  }

  func handOut(_ body: (FrameEvent) -> Void) {
    reader.read(chunk) { event in
      switch event {
      // Clients that write bytes send binary messages. Whether they are UTF-8 is found when they are
      // read as JSON, as with the bytes of other connections.
      case .message(let bytes, _): body(.message(bytes))
      case .tooLarge: body(.tooLarge)
      default: takeControl(event)
      }
    }
  }

  var partialBytes: Int { reader.partialBytes }

  func skipFrame() { reader.skipMessage() }

  private func echo() {
    reader.read(chunk) { event in
      guard !hasEnded else { return }
      switch event {
      case .message(let bytes, let isText): write(isText ? .text : .binary, bytes)
      case .tooLarge: end(.messageTooLarge)
      default: takeControl(event)
      }
    }
  }

  private func takeControl(_ event: WebSocketEvent) {
    switch event {
    case .ping(let payload): write(.pong, payload)
    case .close(let code): end(code)
    case .fault(let code): end(code)
    case .pong, .message, .tooLarge: break
    }
  }

  private func write(_ kind: WebSocketHead.Kind, _ payload: UnsafeRawBufferPointer) {
    WebSocketHead(kind, payloadBytes: payload.count).withBytes { out.writeBytes($0) }
    out.writeBytes(payload)
  }

  private func end(_ code: WebSocketCloseCode?) {
    hasEnded = true
    closeCode = code
  }

  private func endInput(_ context: ChannelHandlerContext) {
    endOutput(context)
    if let connection {
      connection.endInput()
    } else if !hasClosed {
      close(context: context, mode: .output, promise: nil)
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      context.eventLoop.scheduleTask(in: .seconds(1)) { bound.value.close(promise: nil) }
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent {
      // Without a close, or after it.
      if !hasEnded { end(.protocolError) }
      guard connection != nil else { return context.close(promise: nil) }
    }
    context.fireUserInboundEventTriggered(event)
  }
}

// MARK: - What the connection says

extension WebSocketHandler {
  /// The end of the connection's output is our close.
  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .output, !hasClosed else { return context.close(mode: mode, promise: promise) }
    hasClosed = true
    if !hasEnded, connection?.connection?.hasExited == true { closeCode = .normal }
    var frame = ByteBuffer()
    WebSocketHead(.close, payloadBytes: closeCode == nil ? 0 : 2).withBytes { frame.writeBytes($0) }
    if let closeCode { frame.writeInteger(closeCode.rawValue) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let written = context.writeAndFlush(wrapOutboundOut(frame))
    written.whenComplete { _ in
      let (handler, context) = bound.value
      handler.hasSentClose = true
      handler.endOutput(context)
    }
    written.cascade(to: promise)
    readAgain(context)
  }

  /// As the peer of a client, we end the channel after both closes.
  private func endOutput(_ context: ChannelHandlerContext) {
    if hasEnded, hasSentClose { context.close(mode: .output, promise: nil) }
  }

  /// The server ends.
  func serverEnds() {
    if !hasEnded { closeCode = .goingAway }
  }

  /// Reading stops while the peer does not read: it could ask for pongs without end.
  func read(context: ChannelHandlerContext) {
    if hasClosed || context.channel.isWritable {
      context.read()
    } else {
      isReadHeldBack = true
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { readAgain(context) }
    context.fireChannelWritabilityChanged()
  }

  private func readAgain(_ context: ChannelHandlerContext) {
    guard isReadHeldBack else { return }
    isReadHeldBack = false
    context.read()
  }
}

// MARK: - What comes with time

extension WebSocketHandler {
  /// Looks whether the peer is still there: asks one that has been silent, and ends one that has
  /// been silent as long again.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - isRead: Whether what the peer says is read.
  func sweep(_ now: ContinuousClock.Instant, isRead: Bool) {
    guard let context, let limit = settings.limits.pingTime, !hasClosed else { return }
    let hasSpoken = hasHeard || !isRead || isReadHeldBack || !context.channel.isWritable
    hasHeard = false
    switch keepAlive.look(now, hasSpoken: hasSpoken, limit) {
    case .nothing: break
    case .ping:
      var frame = ByteBuffer()
      WebSocketHead(.ping, payloadBytes: 0).withBytes { frame.writeBytes($0) }
      context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    case .close:
      settings.logger.info("a peer that answers no ping was closed")
      context.close(promise: nil)
    }
  }
}
