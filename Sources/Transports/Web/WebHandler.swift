// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServerCore

/// Serves a client over HTTP until it requests a WebSocket; then it replaces itself with the
/// handlers of the WebSocket.
///
/// Responses are written one after the other; the next one is written when the client has read
/// enough of the earlier ones.
final class WebHandler: ChannelDuplexHandler, RemovableChannelHandler, PendingClient {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let settings: ServerSettings
  private let registry: ConnectionRegistry
  private let router: WebRouter
  /// True if the client has connected to a loopback address of this machine.
  private let isLoopback: Bool
  /// The reason to refuse every request; nil if requests are served.
  private let refusal: Refusal?
  /// Creates the handler of a WebSocket's messages.
  private let connection: () -> ConnectionHandler

  private var context: ChannelHandlerContext?
  /// Received bytes that are not processed yet.
  private var pending = ByteBuffer()
  private var isReadHeldBack = false
  private var hasInputEnded = false
  private var phase = Phase.open
  /// True during `respond(_:)`: a write can make the channel call back before it returns.
  private var isResponding = false
  /// True from the request for a file of a folder until the end of the response.
  private var isSendingFile = false
  /// True while the disk is read for a response. The client waits, and its time limits do not run.
  private var isReadingDisk = false
  /// The file whose pieces are being sent; nil for none.
  private var file: SentFile?
  /// True once the server ends: the connection closes after the response that is being sent.
  private var isFinishing = false
  /// The time of the last response, or of the connection; also of the last sweep while output
  /// waited.
  private(set) var since: ContinuousClock.Instant
  private var unreadTimeout: UnreadTimeout
  /// The task that closes the connection if the client takes too long.
  private var closing: Scheduled<Void>?

  private struct SentFile {
    let file: FolderFile
    /// The number of bytes that were sent or wait for the client.
    var offset: Int
    /// True if the connection closes after the response.
    let closes: Bool
  }

  private enum Phase {
    case open
    /// No further request gets a response.
    case closing
    /// All output was sent, including the last response.
    case sent
  }

  // Applies also where the time to the first request has no limit.
  private static let longestTime = Duration.seconds(10)
  /// The time for a refused client to send a request; over TLS after the handshake.
  private static let timeToRequest = TimeAmount.seconds(5)

  /// - Parameters:
  ///   - settings: The limits and the log.
  ///   - registry: The registry that sweeps silent clients.
  ///   - router: The router of requests.
  ///   - isLoopback: True if the client has connected to a loopback address of this machine.
  ///   - refusal: The reason to refuse every request; nil if requests are served.
  ///   - connection: Creates the handler of a WebSocket's messages.
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
    // A refused client gets the reason in response to a request, but may not stay for long.
    if refusal != nil { close(context, in: Self.timeToRequest) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    file = nil
    registry.remove(self)
  }

  func channelInactive(context: ChannelHandlerContext) {
    closing?.cancel()
    closing = nil
    registry.remove(self)
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard phase == .open else { return }
    var bytes = unwrapInboundIn(data)
    if pending.readableBytes == 0 { pending = bytes } else { pending.writeBuffer(&bytes) }
    respond(context)
  }

  /// Delays the read while a response waits, and while the client does not read.
  func read(context: ChannelHandlerContext) {
    if phase != .open || context.channel.isWritable && !isSendingFile {
      context.read()
    } else {
      isReadHeldBack = true
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable, phase == .open {
      respond(context)
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
    if phase == .sent { context.close(promise: nil) } else { respond(context) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    settings.logger.debug("closed a connection after an error", metadata: ["error": "\(error)"])
    context.close(promise: nil)
  }
}

// MARK: - Responses

extension WebHandler {
  /// Responds to the received requests while the client reads.
  private func respond(_ context: ChannelHandlerContext) {
    guard !isResponding else { return }
    isResponding = true
    defer { isResponding = false }
    while phase == .open, !isSendingFile, context.channel.isWritable {
      do throws(RequestHead.Fault) {
        let read = try pending.withUnsafeReadableBytes { bytes throws(RequestHead.Fault) in
          try RequestHead.read(bytes)
        }
        guard let (head, count) = read else { break }
        pending.moveReaderIndex(forwardBy: count)
        guard handle(head, context) else { return }
      } catch {
        send(
          WebResponse(error.status, "the head of the request is malformed or too large"), context)
      }
    }
    if pending.readableBytes == 0 { pending = ByteBuffer() }
    if hasInputEnded, phase == .open, !isSendingFile, context.channel.isWritable { close(context) }
  }

  /// - Returns: False if the connection is now a WebSocket.
  private func handle(_ head: RequestHead, _ context: ChannelHandlerContext) -> Bool {
    if let refusal {
      send(
        WebResponse(.unavailable, String(decoding: refusal.line.dropLast(), as: UTF8.self)), context
      )
      return true
    }
    switch router.decide(head, isLoopback: isLoopback) {
    case .response(var response):
      response.isHeadOnly = head.method == "HEAD"
      send(response, context)
      return true
    case .open(let folder, let names):
      send(folder, names, head, context)
      return true
    case .upgrade(let accept, let subprotocol, let isEcho):
      upgrade(WebResponse.upgrade(accept, subprotocol: subprotocol), isEcho: isEcho, context)
      return false
    }
  }

  /// Responds with a file of a folder, which is opened and read on another thread.
  private func send(
    _ folder: WebFolder, _ names: [String], _ head: RequestHead, _ context: ChannelHandlerContext
  ) {
    isSendingFile = true
    readDisk(
      context, { folder.open(names) },
      then: { handler, context, opening in
        var response = handler.router.response(head, with: opening ?? .unusable)
        response.isHeadOnly = head.method == "HEAD"
        handler.isSendingFile = response.rest != nil
        handler.send(response, context)
        if !handler.isSendingFile { handler.serveNext(context) }
      })
  }

  /// Reads from the disk on another thread, and then calls `body` with the result, which is nil if the
  /// threads have ended; not if the handler was removed meanwhile.
  private func readDisk<Value: Sendable>(
    _ context: ChannelHandlerContext, _ read: @escaping @Sendable () -> Value,
    then body: @escaping @Sendable (WebHandler, ChannelHandlerContext, Value?) -> Void
  ) {
    isReadingDisk = true
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    let threads = router.fileThreads ?? .singleton
    threads.runIfActive(eventLoop: context.eventLoop, read).whenComplete { result in
      let handler = bound.value
      handler.isReadingDisk = false
      if let context = handler.context { body(handler, context, try? result.get()) }
    }
  }

  private func send(_ response: WebResponse, _ context: ChannelHandlerContext) {
    // Not in one buffer: all clients share the content of a file in memory.
    context.write(wrapOutboundOut(response.head(policy: router.policy)), promise: nil)
    if let rest = response.rest {
      file = SentFile(file: rest, offset: response.body.readableBytes, closes: response.closes)
      return send(piece: response.body, context)
    }
    since = settings.now()
    context.writeAndFlush(wrapOutboundOut(response.sentBody), promise: nil)
    if response.closes || isFinishing { close(context) }
  }

  /// Sends a piece of a file, and reads the next one when the client has read enough.
  private func send(piece: ByteBuffer, _ context: ChannelHandlerContext) {
    since = settings.now()
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(piece)).whenSuccess { bound.value.sendNextPiece() }
  }

  private func sendNextPiece() {
    guard let context, let sent = file else { return }
    guard sent.offset < sent.file.byteCount else { return endFile(sent, context) }
    readDisk(
      context, { sent.file.piece(at: sent.offset) },
      then: { handler, context, piece in
        // The length of the body was sent, so the client notices the early end.
        guard case let piece?? = piece else { return context.close(promise: nil) }
        handler.file?.offset += piece.readableBytes
        handler.send(piece: piece, context)
      })
  }

  private func endFile(_ sent: SentFile, _ context: ChannelHandlerContext) {
    file = nil
    isSendingFile = false
    if sent.closes || isFinishing { close(context) } else { serveNext(context) }
  }

  /// Responds to the requests that came during a response.
  private func serveNext(_ context: ChannelHandlerContext) {
    respond(context)
    readAgain(context)
  }

  /// Sends what is written, ends the output, and waits a second for the client to end its
  /// direction.
  private func close(_ context: ChannelHandlerContext) {
    phase = .closing
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in
      let (handler, context) = bound.value
      handler.phase = .sent
      if handler.hasInputEnded { return context.close(promise: nil) }
      context.close(mode: .output, promise: nil)
      if context.channel.isActive {
        handler.close(context, in: TimeAmount(ConnectionTimes.toClose))
      }
    }
    readAgain(context)
  }

  private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
    closing?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    closing = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
  }

  private func upgrade(_ response: ByteBuffer, isEcho: Bool, _ context: ChannelHandlerContext) {
    phase = .closing
    context.writeAndFlush(wrapOutboundOut(response), promise: nil)
    let connection = isEcho ? nil : connection()
    let webSocket = WebSocketHandler(settings: settings, connection: connection)
    do {
      let pipeline = context.pipeline.syncOperations
      if let connection {
        connection.webSocket = webSocket
        try pipeline.addHandler(connection, position: .after(self))
      }
      try pipeline.addHandler(webSocket, position: .after(self))
      // Bytes after the head belong to the WebSocket, and so does the end of the input.
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

// MARK: - Sweeps

extension WebHandler {
  /// Closes the connection if the client has sent or read nothing for too long.
  func sweep(_ now: ContinuousClock.Instant) {
    guard let context else { return }
    if isReadingDisk {
      since = now
      unreadTimeout = UnreadTimeout(since: now)
      return
    }
    let waiting = context.channel.isWritable && file == nil ? 0 : unsentBytes
    if waiting > 0 {
      since = now
      if unreadTimeout.check(now, waitingBytes: waiting, settings.limits.unreadTime) { abandon() }
      return
    }
    _ = unreadTimeout.check(now, waitingBytes: 0, nil)
    let limit = settings.limits.timeToFirstRequest ?? Self.longestTime
    if since.duration(to: now) >= limit { abandon() }
  }

  var channel: (any Channel)? { context?.channel }
  var isRead: Bool { !isReadHeldBack }

  /// The bytes of responses that wait for the client in the channel, and the unread ones of a file.
  private var unsentBytes: Int {
    let waiting = (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    return waiting + (file.map { $0.file.byteCount - $0.offset } ?? 0)
  }

  var hasUnsentResponse: Bool { isSendingFile || phase == .closing || unsentBytes > 0 }

  func finish() {
    isFinishing = true
    if let context, phase == .open, !isSendingFile { close(context) }
  }

  func abandon() { context?.close(promise: nil) }
}
