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
  let settings: ServerSettings
  private let registry: ConnectionRegistry
  private(set) var context: ChannelHandlerContext?
  private(set) var connection: Connection?
  /// Whether the channel has as much as it should; it tells of each change at once.
  private(set) var isCongested = false
  /// True if writes may be held for a moment.
  private var coalescesWrites = false
  /// How much has been written since the channel was last told to send.
  private var unsentBytes = 0
  private var isHeld = false

  /// Whether the peer is a stranger who has to say something in time.
  let isRemote: Bool
  var idleTimeout: IdleTimeout
  var unreadTimeout: UnreadTimeout
  var frameTimeout = FrameTimeout()
  /// True if the client was refused before the last sweep.
  var wasRefused = false
  var readGate: ReadGate
  private var loopTime: LoopTime
  /// That of all connections of the client; nil until it has shown a token.
  private var identityTime: IdentityTime?
  /// True while the channel reads in large parts.
  private var usesLargeBuffers = false

  /// Whether there is TLS in between.
  private let isSecure: Bool
  /// Whether the peer is at a WebSocket.
  private let isWebSocket: Bool
  /// What that is, once it is made.
  var webSocket: WebSocketHandler?

  init(
    shard: Shard, settings: ServerSettings, registry: ConnectionRegistry, isRemote: Bool,
    isSecure: Bool, isWebSocket: Bool = false
  ) {
    self.shard = shard
    self.settings = settings
    self.registry = registry
    self.isRemote = isRemote
    self.isSecure = isSecure
    self.isWebSocket = isWebSocket
    let now = settings.now()
    idleTimeout = IdleTimeout(since: now)
    unreadTimeout = UnreadTimeout(since: now)
    loopTime = LoopTime(since: now)
    readGate = ReadGate(bytesPerSecond: settings.limits.bytesPerSecond, at: now)
  }

  /// Tells the connection, as one turn of the shard.
  ///
  /// Entering costs some hundred nanoseconds, so it is done once per read and not per message.
  private func tell(_ event: Connection.Event) {
    guard let current = connection else { return }
    // because the shard's jobs run on the channel's event loop, which `assumeIsolated` checks,
    // nothing is sent anywhere; the compiler cannot know that the two are the same.
    nonisolated(unsafe) let (connection, event) = (current, event)
    takingTime { start in
      shard.assumeIsolated { shard in
        if let start { shard.turnOutcome.beginWork(at: start) }
        shard.turn { connection.take(event, isolation: shard) }
      }
    }
  }

  /// Counts how long a turn takes, unless this is the only connection.
  private func takingTime(_ turn: (_ start: ContinuousClock.Instant?) -> Void) {
    if registry.hasOneConnection { return turn(nil) }
    let start = settings.now()
    turn(start)
    let end = settings.now()
    loopTime.add(from: start, to: end)
    identityTime?.time.add(from: start, to: end)
  }

  /// True if other clients are served before this one: it takes much of the loop's time, or is about to, and others wait.
  private var mustQueue: Bool {
    guard
      loopTime.isExceeded || identityTime?.time.isExceeded ?? false
        || connection?.isInLargeFrame ?? false
    else { return false }
    return areOthersWaiting
  }

  private var areOthersWaiting: Bool {
    guard let queue = registry.yieldQueue, !queue.isOver else { return false }
    return !queue.isEmpty || registry.writeCoalescer.isLong
  }

  /// Does something now, or soon if the shard is busy: what its turns do to a channel can make that call back at once.
  private func outsideOfTurns(
    _ context: ChannelHandlerContext, _ body: @escaping @Sendable (ConnectionHandler) -> Void
  ) {
    guard connection?.isShardBusy == true else { return body(self) }
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute { body(handler.value) }
  }

  /// Ends the connection once what it has asked for has been answered, or time has run out.
  func finish() {
    webSocket?.serverEnds()
    tell(.finish)
  }

  /// True once nothing more is written to the connection, or it has gone.
  var isClosing: Bool { connection?.life.isOver ?? true }

  /// When a client came that has sent no message yet, or may not use the server; nil for every other.
  var silentSince: ContinuousClock.Instant? {
    guard isRemote, !isClosing, let connection,
      connection.messageCount == 0 || !connection.isAuthorised
    else { return nil }
    return idleTimeout.since
  }

  /// Whether the peer waits for an answer, and reads.
  var hasOpenResponses: Bool { !isClosing && connection?.hasOpenResponses == true }

  /// The server ends once others have been answered; until then the peer may look on at them.
  func linger() { tell(.linger) }

  /// The peer is served no more, and told why.
  func refuse(_ refusal: Refusal) {
    afterOthers { handler in
      guard handler.connection?.life.isRefused == false, !handler.isClosing else { return }
      handler.settings.logger.info("a client was closed", metadata: ["limit": "\(refusal)"])
      handler.tell(.refused(refusal))
    }
  }

  func credentialsChanged() { tell(.credentialsChanged) }

  func expireLater() {
    guard !isClosing, let context else { return }
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.timeForOpenAnswers) {
      handler.value.tell(.timeIsUp)
      // Still open: the peer has yet to read what comes before.
      handler.value.expireLater()
    }
  }

  // What is asked for before the end of input gets this long.
  static let timeForOpenAnswers = TimeAmount.seconds(3)
  // A peer that has everything gets this long to close its side.
  private static let timeToClose = TimeAmount.seconds(1)
  // At most so much is held.
  private static let coalescedBytes = 8 << 10
}

// MARK: - What the channel says

extension ConnectionHandler {
  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    isCongested = !context.channel.isWritable
    if context.channel.isActive { begin() }
  }

  func channelActive(context: ChannelHandlerContext) {
    begin()
    context.fireChannelActive()
  }

  private func begin() {
    guard connection == nil else { return }
    // because this runs where the shard's jobs do; see `tell`.
    nonisolated(unsafe) let handler = self
    shard.assumeIsolated { shard in
      handler.connection = Connection(
        settings: handler.settings, output: handler, isWebSocket: handler.isWebSocket,
        isolation: shard)
      // TLS forgets what waits when its client ends without close_notify.
      handler.coalescesWrites = !handler.isSecure
    }
    registry.add(self)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    guard connection?.isShardBusy == true else { return receive(buffer) }
    // The client is gone, and the write that has noticed hands over what it had still sent.
    outsideOfTurns(context) { $0.receive(buffer) }
  }

  private func receive(_ buffer: ByteBuffer) {
    guard !isClosing, let context else { return }
    pace(buffer.readableBytes, context)
    willHear(buffer.readableBytes)
    buffer.withUnsafeReadableBytes { tell(.received($0)) }
    chooseBuffers(context)
  }

  private func chooseBuffers(_ context: ChannelHandlerContext) {
    guard connection?.isInLargeFrame ?? false != usesLargeBuffers else { return }
    usesLargeBuffers.toggle()
    // A channel that takes no such option reads as before.
    try? context.channel.syncOptions?.setOption(
      .recvAllocator, value: ReceiveBuffers(isInLargeFrame: usesLargeBuffers))
  }

  /// So many bytes of the peer are about to be taken: lets what others have been answered go first.
  private func willHear(_ byteCount: Int) {
    registry.writeCoalescer.willServe(byteCount)
    registry.broadcastCoalescer.willServe()
  }

  /// Takes frames that were told apart before, as one turn of the shard.
  func receive(from source: any FrameSource, byteCount: Int) {
    guard !isClosing, let current = connection, !current.isShardBusy else {
      return source.handOut { _ in }
    }
    if let context { pace(byteCount, context) }
    willHear(byteCount)
    // because this runs where the shard's jobs do; see `tell`.
    nonisolated(unsafe) let (connection, source) = (current, source)
    takingTime { start in
      shard.assumeIsolated { shard in
        if let start { shard.turnOutcome.beginWork(at: start) }
        shard.turn {
          source.handOut { connection.take(.framed($0), isolation: shard) }
          if !connection.canBuffer(partialBytes: source.partialBytes) { source.skipFrame() }
        }
      }
    }
    if let context { chooseBuffers(context) }
  }

  /// Reading stops while the peer does not read: back-pressure, not memory.
  func read(context: ChannelHandlerContext) {
    if isClosing { return context.read() }
    readGate.ask()
    resumeReading()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isCongested = !context.channel.isWritable
    // A write can change it to and fro; the connection looks for itself then.
    guard !isCongested, connection?.isCongested ?? false else { return }
    outsideOfTurns(context) { handler in
      guard handler.mustQueue else { return handler.hasCaughtUp() }
      handler.registry.yieldQueue?.wait {
        handler.hasCaughtUp()
        return .zero
      }
    }
  }

  private func hasCaughtUp() {
    guard !isCongested else { return }
    tell(.caughtUp)
    resumeReading()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .inputClosed? = event as? ChannelEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    endInput()
  }

  /// The client sends nothing more.
  func endInput() {
    guard let context else { return }
    outsideOfTurns(context) { $0.afterOthers { $0.tell(.inputEnded) } }
  }

  /// Does something that no client waits for: now, or after the clients that wait.
  func afterOthers(_ body: @escaping (ConnectionHandler) -> Void) {
    guard areOthersWaiting else { return body(self) }
    registry.yieldQueue?.wait { [self] in
      body(self)
      return .zero
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    settings.logger.debug("a connection broke", metadata: ["error": "\(error)"])
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    outsideOfTurns(context) { $0.afterOthers { $0.disconnect() } }
    context.fireChannelInactive()
  }

  private func disconnect() {
    tell(.disconnected)
    if let identity = connection?.identity { registry.dismiss(identity) }
    connection = nil
    webSocket = nil
    context = nil
    isCongested = false
    registry.remove(self)
  }
}

// MARK: - What the connection says

extension ConnectionHandler: ConnectionOutput, CoalescedOutput {
  func write(_ bytes: UnsafeRawBufferPointer) {
    guard let context else { return }
    send(Self.buffer(of: bytes, context), context)
  }

  /// Each client is given the same memory.
  func write(_ buffer: BroadcastBuffer, from start: Int) {
    guard let context else { return }
    let sent =
      buffer.sent as? SentText
      ?? SentText(buffer.bytes.withUnsafeBytes { Self.buffer(of: $0, context) })
    buffer.sent = sent
    unsentBytes = 0
    context.writeAndFlush(wrapOutboundOut(sent.bytes(from: start)), promise: nil)
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
    // A large write fills the channel, which would look as if the peer did not read.
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

  /// How many bytes the channel has for the peer, be they many or few.
  var bufferedBytes: Int {
    (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  func resumeReading() {
    guard readGate.isHeldBack else { return }
    let isWanted = connection?.wantsBytes ?? true
    switch readGate.decide(isWanted: isWanted, mustQueue: mustQueue) {
    case .wait: break
    case .read: context?.read()
    case .queue:
      registry.yieldQueue?.wait { [self] in
        readGate.wasQueued()
        let isWanted = connection?.wantsBytes ?? true
        guard case .read = readGate.decide(isWanted: isWanted, mustQueue: false) else {
          return .zero
        }
        context?.read()
        return loopTime.lastTurn
      }
    }
  }

  func yieldToOthers() {
    registry.yieldQueue?.wait { [self] in
      willHear(0)
      tell(.othersServed)
      return .zero
    }
  }

  /// Sends what is written, ends our direction, and reads on until the client has ended its own: closing with bytes
  /// unread would take back what the client has not read yet.
  func endOutput() {
    guard let context else { return }
    registry.hasAnswered(self)
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in
      guard let context = handler.value.context else { return }
      context.close(mode: .output).whenComplete { _ in
        guard let context = handler.value.context else { return }
        handler.value.outsideOfTurns(context) { $0.tell(.outputEnded) }
      }
    }
    if readGate.isHeldBack { context.read() }
  }

  func awaitInputEnd() {
    guard let context else { return }
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.timeToClose) { bound.value.close(promise: nil) }
  }

  func admit(_ identity: Identity) -> Bool {
    guard registry.admit(identity) else { return false }
    identityTime = registry.time(of: identity)
    return true
  }

  func close() {
    // What belongs to turns before this one.
    flush()
    registry.hasAnswered(self)
    context?.close(promise: nil)
  }

  /// Closes now, with what has not been sent.
  func abandon() { if connection == nil { context?.close(promise: nil) } else { tell(.cut) } }
}
