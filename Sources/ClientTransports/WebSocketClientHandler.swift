// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL
internal import Wire

/// A client's end of a WebSocket. It converts to and from lines: each written line is sent as a
/// text frame, and each message that arrives is passed on as a line.
///
/// - Source: RFC 6455 §4.1 (opening), §5.3 (masking), §7 (closing).
final class WebSocketClientHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let host: String
  private let key: String
  private var reader: WebSocketReader
  private var phase = Phase.idle
  /// True once the close frame was sent.
  private var hasClosed = false
  /// True once the client has ended its output.
  private var hasEndedOutput = false
  /// True if this client has closed the channel, so that its end is not reported as the server's.
  private var isClosed = false
  /// The part of the opening response that has arrived.
  private var head = ByteBuffer()
  /// Writes from before the WebSocket was open.
  private var waiting: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
  /// The start of a line whose end was not written yet.
  private var line: [UInt8] = []
  /// True until a pong is written.
  private var isPongWaiting = false
  /// The payload of the last ping that has arrived while a pong waited; nil for none.
  private var lastPing: [UInt8]?

  private enum Phase {
    /// The request is not sent: the channel is not active yet.
    case idle
    /// The request is sent.
    case opening
    case open
    /// The channel has ended.
    case ended
  }

  /// True until the WebSocket is open or the channel has ended.
  private var isOpening: Bool { phase == .idle || phase == .opening }

  /// - Parameters:
  ///   - host: The name or address of the server.
  ///   - port: The port of the server.
  ///   - maximumMessageBytes: The longest message that is accepted from the server.
  init(host: String, port: Int, maximumMessageBytes: Int) {
    self.host = ServerAddress.description(host, port)
    key = WebSocketHandshake.newKey()
    reader = WebSocketReader(maximumMessageBytes: maximumMessageBytes, isOfServer: true)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { requestUpgrade(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    requestUpgrade(context)
    context.fireChannelActive()
  }

  private func requestUpgrade(_ context: ChannelHandlerContext) {
    guard phase == .idle else { return }
    phase = .opening
    let request = """
      GET / HTTP/1.1\r
      Host: \(host)\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Version: 13\r
      Sec-WebSocket-Key: \(key)\r
      \r\n
      """
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    let wasOpening = isOpening
    phase = .ended
    for (_, promise) in waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
    waiting = []
    if wasOpening, !isClosed {
      context.fireErrorCaught(ClientError.noWebSocket(response: "no response"))
    }
    context.fireChannelInactive()
  }
}

// MARK: - Input

extension WebSocketClientHandler {
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    guard isOpening else { return take(&bytes, context) }
    head.writeBuffer(&bytes)
    let response = head.readableBytesView
    // A server of another protocol may never send the end of a head.
    guard Self.start.starts(with: response.prefix(Self.start.count)) else {
      return fail("a response that is not HTTP", context)
    }
    guard let end = response.firstRange(of: Self.end) else {
      if response.count > Self.maximumHeadBytes { fail("a head of more than 16 KiB", context) }
      return
    }
    let lines = String(decoding: response[..<end.lowerBound], as: UTF8.self).split(
      separator: "\r\n")
    guard lines.first?.hasPrefix("HTTP/1.1 101 ") == true,
      lines.contains(where: { WebSocketHandshake.isAccept($0, for: key) })
    else { return fail(lines.first.map(String.init) ?? "no status line", context) }
    phase = .open
    head.moveReaderIndex(forwardBy: end.upperBound - response.startIndex)
    for (bytes, promise) in waiting { send(bytes, context, promise) }
    waiting = []
    if hasEndedOutput { endOutput(context) }
    var rest = head
    head = ByteBuffer()
    // The rest is processed before the flush: a write that fails passes on bytes that come after
    // it.
    if rest.readableBytes > 0 { take(&rest, context) }
    context.flush()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // A server that ends the stream now will not open a WebSocket.
    if case .inputClosed? = event as? ChannelEvent, isOpening {
      return fail("no response", context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let isDisconnected =
      switch error {
      case NIOSSLError.uncleanShutdown: true
      case let error as IOError: error.errnoCode == connectionReset
      default: false
      }
    if isOpening, isDisconnected { return fail("no response", context) }
    context.fireErrorCaught(error)
  }

  private static let start = Array("HTTP/".utf8)
  private static let end = Array("\r\n\r\n".utf8)
  /// The largest size of the head of the response with its line ends: 16 KiB.
  private static let maximumHeadBytes = 16 * 1024

  private func fail(_ response: String, _ context: ChannelHandlerContext) {
    isClosed = true
    context.fireErrorCaught(ClientError.noWebSocket(response: response))
    context.close(promise: nil)
  }

  private func take(_ bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
    var lines = ByteBuffer()
    var ping: [UInt8]?
    var fault: WebSocketCloseCode?
    var hasEnded = false
    bytes.withUnsafeMutableReadableBytes { bytes in
      reader.read(bytes) { event in
        switch event {
        case .message(let message, _):
          // In JSON a line end is only white space between tokens; strings cannot contain one.
          lines.writeBytes(message.lazy.map { $0 == 0x0A ? 0x20 : $0 })
          lines.writeInteger(UInt8(ascii: "\n"))
        case .ping(let payload): ping = Array(payload)
        case .pong: break
        case .tooLarge: fault = .messageTooLarge
        case .close: hasEnded = true
        case .fault(let code): fault = code
        }
      }
    }
    if lines.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(lines)) }
    if let ping { pong(ping, context) }
    if let fault {
      context.fireErrorCaught(
        fault == .messageTooLarge
          ? ClientError.messageTooLarge
          : ClientError.noWebSocket(response: "close \(fault.rawValue)")
      )
    }
    if hasEnded || fault != nil { close(context, fault ?? .normal) }
    context.flush()
    if hasEnded { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
  }
}

// MARK: - Output

extension WebSocketClientHandler {
  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let bytes = unwrapOutboundIn(data)
    switch phase {
    case .ended:
      // A write between the end of the channel and the removal of its handlers would wait forever.
      promise?.fail(ChannelError.ioOnClosedChannel)
    case _ where hasEndedOutput:
      promise?.fail(ChannelError.outputClosed)
    case _ where hasClosed:
      // The server receives nothing more. Over a plain socket a write would succeed as well.
      promise?.succeed()
    case .open:
      send(bytes, context, promise)
    case .idle, .opening:
      waiting.append((bytes, promise))
    }
  }

  private func send(
    _ bytes: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    for byte in bytes.readableBytesView {
      guard byte == UInt8(ascii: "\n") else {
        line.append(byte)
        continue
      }
      if line.last == 0x0D { line.removeLast() }
      if !line.isEmpty { write(.text, line, context, nil) }
      line.removeAll(keepingCapacity: true)
    }
    // An empty write after the frames completes the promise.
    context.write(wrapOutboundOut(ByteBuffer()), promise: promise)
  }

  private func write(
    _ kind: WebSocketHead.Kind, _ payload: [UInt8], _ context: ChannelHandlerContext,
    _ promise: EventLoopPromise<Void>?
  ) {
    let mask = UInt32.random(in: .min ... .max)
    var frame = context.channel.allocator.buffer(capacity: payload.count + 14)
    WebSocketHead(kind, payloadBytes: payload.count, mask: mask).withBytes { frame.writeBytes($0) }
    withUnsafeBytes(of: mask.bigEndian) { mask in
      _ = frame.writeBytes(payload.enumerated().lazy.map { $1 ^ mask[$0 & 3] })
    }
    context.write(wrapOutboundOut(frame), promise: promise)
  }

  /// Responds to a ping when the previous pong is written. Of the pings that arrive until then, only the
  /// last one gets a pong: a server that does not read could otherwise fill the memory with pongs. Reads
  /// are not delayed instead, because the server may wait until this client reads.
  ///
  /// - Source: RFC 6455 §5.5.3.
  private func pong(_ payload: [UInt8], _ context: ChannelHandlerContext) {
    guard !hasClosed else { return }
    guard !isPongWaiting else {
      lastPing = payload
      return
    }
    isPongWaiting = true
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenSuccess {
      let (handler, context) = bound.value
      handler.isPongWaiting = false
      guard let payload = handler.lastPing, handler.phase == .open else { return }
      handler.lastPing = nil
      handler.pong(payload, context)
      context.flush()
    }
    write(.pong, payload, context, written)
  }

  /// Sends the close frame when the client ends its output. Messages of the server are still
  /// received.
  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .output, phase != .ended else {
      isClosed = true
      return context.close(mode: mode, promise: promise)
    }
    hasEndedOutput = true
    // Otherwise it is sent after the waiting writes.
    if phase == .open {
      endOutput(context)
      context.flush()
    }
    promise?.succeed()
  }

  private func endOutput(_ context: ChannelHandlerContext) {
    if !line.isEmpty { write(.text, line, context, nil) }
    line = []
    close(context, .normal)
  }

  private func close(_ context: ChannelHandlerContext, _ code: WebSocketCloseCode) {
    guard !hasClosed else { return }
    hasClosed = true
    write(.close, [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)], context, nil)
  }
}
