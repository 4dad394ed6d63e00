// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import ServerCore

/// Reads and writes the frames of a WebSocket on a channel. It passes messages to the connection's
/// handler, which is next in the pipeline, and responds to control frames.
///
/// For the connection's handler, a close frame of the client is the end of the input, and the bytes
/// that it writes are frames already. When it ends its output, the close frame of the server is
/// sent. So a WebSocket has the same turns, limits and back-pressure as any other connection.
///
/// - Source: RFC 6455 §5.5 (control frames), §7 (closing).
final class WebSocketHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let settings: ServerSettings
  /// The receiver of messages; nil if they are sent back, for protocol tests.
  private let connection: ConnectionHandler?
  private var context: ChannelHandlerContext?
  private var reader: WebSocketReader
  /// The bytes that are being read.
  private var chunk = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// Frames to send that are not the connection's messages: pongs and echoes.
  private var out = ByteBuffer()

  /// The code of the server's close frame; nil for none. The connection sends the reason for ending
  /// in a message before.
  private var closeCode: WebSocketCloseCode? = .policyViolation
  /// True once nothing more is read: the client has sent a close frame, or violated the protocol.
  private var hasEnded = false
  private var closeFrame = CloseFrame.none
  private var isReadHeldBack = false

  /// True if bytes have arrived since the last sweep.
  private var hasReceivedBytes = false
  private var keepAlive: KeepAlive

  /// The stages of the server's close frame, after which nothing is written.
  private enum CloseFrame { case none, written, sent }

  /// - Parameters:
  ///   - settings: The limits and the log.
  ///   - connection: The receiver of messages; nil if they are sent back.
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

  /// True while a message has begun and not ended.
  var isInMessage: Bool { !hasEnded && reader.isInMessage }
}

// MARK: - Input

extension WebSocketHandler: FrameSource {
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    guard let connection, connection.isShardBusy else { return receive(buffer) }
    // As `ConnectionHandler` does with bytes of a stream.
    connection.outsideOfTurns(context) { $0.webSocket?.receive(buffer) }
  }

  // Consumes the buffer, because frames are unmasked in place.
  private func receive(_ buffer: consuming ByteBuffer) {
    hasReceivedBytes = true
    guard !hasEnded else { return }
    buffer.withUnsafeMutableReadableBytes { bytes in
      chunk = bytes
      if let connection { connection.receive(from: self, byteCount: bytes.count) } else { echo() }
      chunk = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
    // A write that notices that the client is gone passes on the client's last bytes, inside this method.
    let (frames, isEnd) = (out, hasEnded)
    out = ByteBuffer()
    if frames.readableBytes > 0, closeFrame == .none {
      context?.writeAndFlush(wrapOutboundOut(frames), promise: nil)
    }
    if isEnd, let context { endInput(context) }
  }

  func forEachFrame(_ body: (FrameEvent) -> Void) {
    reader.read(chunk) { event in
      switch event {
      // Some clients send binary messages. As on other connections, the JSON reader checks for
      // UTF-8.
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
    } else if closeFrame == .none {
      close(context: context, mode: .output, promise: nil)
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      context.eventLoop.scheduleTask(in: .seconds(1)) { bound.value.close(promise: nil) }
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent {
      guard let connection else { return context.close(promise: nil) }
      connection.outsideOfTurns(context) { $0.webSocket?.inputClosed() }
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Handles the end of the bytes, without a close frame or after it.
  private func inputClosed() {
    if !hasEnded { end(.protocolError) }
  }
}

// MARK: - Output

extension WebSocketHandler {
  /// Sends the close frame when the connection ends its output.
  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .output, closeFrame == .none else {
      return context.close(mode: mode, promise: promise)
    }
    closeFrame = .written
    if !hasEnded, connection?.hasExited == true { closeCode = .normal }
    var frame = ByteBuffer()
    WebSocketHead(.close, payloadBytes: closeCode == nil ? 0 : 2).withBytes { frame.writeBytes($0) }
    if let closeCode { frame.writeInteger(closeCode.rawValue) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let written = context.writeAndFlush(wrapOutboundOut(frame))
    written.whenComplete { _ in
      let (handler, context) = bound.value
      handler.closeFrame = .sent
      handler.endOutput(context)
    }
    written.cascade(to: promise)
    readAgain(context)
  }

  /// Ends the output after both close frames. The server ends it first (RFC 6455 §7.1.1).
  private func endOutput(_ context: ChannelHandlerContext) {
    if hasEnded, closeFrame == .sent { context.close(mode: .output, promise: nil) }
  }

  /// Sets the status code of the server's close frame: 1001 if the server ends.
  func serverEnds(_ code: WebSocketCloseCode = .goingAway) {
    if !hasEnded { closeCode = code }
  }

  /// Delays the read while the client does not read: it could request pongs without end.
  func read(context: ChannelHandlerContext) {
    if closeFrame != .none || context.channel.isWritable {
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

// MARK: - Sweeps

extension WebSocketHandler {
  /// Sends a ping to a client that has been silent, and closes the connection if the client stays
  /// silent for the same time again.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - readsInput: True if the connection reads the client's bytes.
  func sweep(_ now: ContinuousClock.Instant, readsInput: Bool) {
    guard let context, let limit = settings.limits.pingTime, closeFrame == .none else { return }
    let hasReceived =
      hasReceivedBytes || !readsInput || isReadHeldBack || !context.channel.isWritable
    hasReceivedBytes = false
    switch keepAlive.check(now, hasReceived: hasReceived, limit) {
    case .nothing: break
    case .ping:
      var frame = ByteBuffer()
      WebSocketHead(.ping, payloadBytes: 0).withBytes { frame.writeBytes($0) }
      context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    case .close:
      settings.logger.info(
        "closed a WebSocket: the client did not respond to a ping in time",
        metadata: connection?.logMetadata())
      context.close(promise: nil)
    }
  }
}
