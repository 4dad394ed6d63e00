// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL
internal import Wire

/// A client's end of a WebSocket, to whoever is behind it a stream of lines: each line that is written
/// goes out as a text frame, and each message that comes is a line.
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
  private var phase = Phase.unasked
  /// Whether our close has gone out, as an answer to the server's or of our own accord.
  private var hasClosed = false
  /// Whether our output was ended.
  private var hasEndedOutput = false
  /// Whether it was us who ended the channel, so that its end says nothing of the server.
  private var isClosed = false
  /// What has come of the answer to the opening.
  private var head = ByteBuffer()
  /// What was written before the WebSocket was open.
  private var waiting: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
  /// The start of a line that is being written.
  private var line: [UInt8] = []

  private enum Phase {
    /// There is no channel yet.
    case unasked
    /// The server has been asked for a WebSocket.
    case opening
    case open
    /// There is no channel any more.
    case gone
  }

  /// Whether the WebSocket has yet to be open.
  private var isAwaited: Bool { phase == .unasked || phase == .opening }

  /// - Parameters:
  ///   - host: What the server is called, or its address.
  ///   - port: Where it listens.
  ///   - maximumMessageBytes: The longest message that is taken from it.
  init(host: String, port: Int, maximumMessageBytes: Int) {
    self.host = ServerAddress.description(host, port)
    key = WebSocketHandshake.newKey()
    reader = WebSocketReader(maximumMessageBytes: maximumMessageBytes, isOfServer: true)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { ask(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    ask(context)
    context.fireChannelActive()
  }

  private func ask(_ context: ChannelHandlerContext) {
    guard phase == .unasked else { return }
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
    let wasAwaited = isAwaited
    phase = .gone
    for (_, promise) in waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
    waiting = []
    if wasAwaited, !isClosed {
      context.fireErrorCaught(ClientError.noWebSocket(answer: "nothing"))
    }
    context.fireChannelInactive()
  }
}

// MARK: - What the server says

extension WebSocketClientHandler {
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    guard isAwaited else { return take(&bytes, context) }
    head.writeBuffer(&bytes)
    let answer = head.readableBytesView
    // Somebody who speaks otherwise may never come to the end of an answer.
    guard Self.start.starts(with: answer.prefix(Self.start.count)) else {
      return fail("no HTTP", context)
    }
    guard let end = answer.firstRange(of: Self.end) else {
      if answer.count > Self.maximumHeadBytes { fail("an endless answer", context) }
      return
    }
    let lines = String(decoding: answer[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    guard lines.first?.hasPrefix("HTTP/1.1 101 ") == true,
      lines.contains(where: { WebSocketHandshake.isAccept($0, for: key) })
    else { return fail(lines.first.map(String.init) ?? "nothing", context) }
    phase = .open
    head.moveReaderIndex(forwardBy: end.upperBound - answer.startIndex)
    for (bytes, promise) in waiting { send(bytes, context, promise) }
    waiting = []
    if hasEndedOutput { endOutput(context) }
    var rest = head
    head = ByteBuffer()
    // Nothing is sent before it is taken: a write that fails hands over what comes behind it.
    if rest.readableBytes > 0 { take(&rest, context) }
    context.flush()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // Who closes without a word opens no WebSocket any more.
    if case .inputClosed? = event as? ChannelEvent, isAwaited {
      return fail("nothing", context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let isCut =
      switch error {
      case NIOSSLError.uncleanShutdown: true
      case let error as IOError: error.errnoCode == connectionReset
      default: false
      }
    if isAwaited, isCut { return fail("nothing", context) }
    context.fireErrorCaught(error)
  }

  private static let start = Array("HTTP/".utf8)
  private static let end = Array("\r\n\r\n".utf8)
  /// How long the head of the response may be, with its line ends.
  private static let maximumHeadBytes = 16 * 1024

  private func fail(_ answer: String, _ context: ChannelHandlerContext) {
    isClosed = true
    context.fireErrorCaught(ClientError.noWebSocket(answer: answer))
    context.close(promise: nil)
  }

  private func take(_ bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
    var lines = ByteBuffer()
    var pongs: [[UInt8]] = []
    var fault: WebSocketCloseCode?
    var hasEnded = false
    bytes.withUnsafeMutableReadableBytes { bytes in
      reader.read(bytes) { event in
        switch event {
        case .message(let message, _):
          // Between the parts of JSON a line end is white space, and in them it cannot be.
          lines.writeBytes(message.lazy.map { $0 == 0x0A ? 0x20 : $0 })
          lines.writeInteger(UInt8(ascii: "\n"))
        case .ping(let payload): pongs.append(Array(payload))
        case .pong: break
        case .tooLarge: fault = .messageTooLarge
        case .close: hasEnded = true
        case .fault(let code): fault = code
        }
      }
    }
    if lines.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(lines)) }
    for payload in pongs { write(.pong, payload, context, nil) }
    if let fault {
      context.fireErrorCaught(
        fault == .messageTooLarge
          ? ClientError.messageTooLarge : ClientError.noWebSocket(answer: "close \(fault.rawValue)")
      )
    }
    if hasEnded || fault != nil { close(context, fault ?? .normal) }
    context.flush()
    if hasEnded { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
  }
}

// MARK: - What the client says

extension WebSocketClientHandler {
  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let bytes = unwrapOutboundIn(data)
    switch phase {
    case .gone:
      // What comes between the end of the channel and that of its handlers would wait for ever.
      promise?.fail(ChannelError.ioOnClosedChannel)
    case _ where hasEndedOutput:
      promise?.fail(ChannelError.outputClosed)
    case _ where hasClosed:
      // The server takes nothing more, which over a bare socket nobody would be told either.
      promise?.succeed()
    case .open:
      send(bytes, context, promise)
    case .unasked, .opening:
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
    // Nothing, behind all of it.
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

  /// The end of what is written is our close; what the server still says is taken.
  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .output, phase != .gone else {
      isClosed = true
      return context.close(mode: mode, promise: promise)
    }
    hasEndedOutput = true
    // Otherwise behind what waits to be sent.
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
