// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import ServerCore

/// Carries bytes between a channel and its connection, entering the shard once per read.
final class ConnectionHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let shard: Shard
  let registry: ConnectionRegistry
  private(set) var context: ChannelHandlerContext?
  /// The connection, on this loop or on another one.
  var place = Place.absent
  /// Number of bytes written since the last flush of the channel.
  var unsentBytes = 0
  var loopTime: LoopTime
  /// The loop time of all connections of the client's identity; nil until it has shown a token.
  var identityTime: IdentityTime?
  /// The metrics of the connection's transport.
  let metrics: TransportMetrics
  /// The handler of the WebSocket, once the connection is upgraded.
  var webSocket: WebSocketHandler?

  var unreadTimeout: UnreadTimeout
  var frameTimeout = FrameTimeout()
  var idleTimeout: IdleTimeout
  // The flags are beside each other, so that one of thousands of connections is small.

  /// True if the client was refused before the last sweep.
  var wasRefused = false
  /// True while the channel reads in large parts.
  private var usesLargeBuffers = false
  var readGate: ReadGate
  /// True while the channel holds more bytes than its high-water mark; updated with each change of
  /// its writability.
  private(set) var isCongested = false
  var isHeld = false
  /// True if the client is untrusted: the time limits apply to it, and it can be closed while it is
  /// silent.
  let isRemote: Bool
  private let transport: ClientTransport
  /// True if writes may be held for write coalescing.
  ///
  /// NIO's TLS handler drops waiting bytes when the client ends without close_notify.
  var coalescesWrites: Bool { !transport.isSecure }

  /// The place of a client's connection.
  enum Place {
    /// The channel is not active.
    case absent
    /// It is on this loop. It may have an end of a relay that replaces it when everything is sent.
    case connected(Connection, next: RelayEnd?)
    /// It is on another loop, because the client has attached to a session of another shard.
    case relayed(Relay)
  }

  var connection: Connection? { place.connection }
  var relay: Relay? { place.relay }

  init(
    shard: Shard, registry: ConnectionRegistry, isRemote: Bool, over transport: ClientTransport
  ) {
    self.shard = shard
    self.registry = registry
    self.isRemote = isRemote
    self.transport = transport
    metrics = registry.metrics[transport]
    let settings = registry.settings
    let now = settings.now()
    idleTimeout = IdleTimeout(since: now)
    unreadTimeout = UnreadTimeout(since: now)
    loopTime = LoopTime(since: now)
    readGate = ReadGate(bytesPerSecond: settings.limits.bytesPerSecond, at: now)
  }

  var settings: ServerSettings { registry.settings }

  /// True if the connection is a WebSocket.
  var isWebSocket: Bool { transport.isWebSocket }

  /// Passes an event to the connection, in one turn of the shard.
  ///
  /// Entering the shard costs some hundred nanoseconds, so it happens once per read and not per
  /// message.
  func notify(_ event: Connection.Event) {
    switch place {
    case .absent: break
    case .connected(let connection, _):
      measuredTurn(with: (connection, event)) { $0.0.take($0.1, isolation: $1) }
    case .relayed(let relay): relay.take(event)
    }
  }

  /// Runs `body` as one turn, and measures its time, unless this is the only connection.
  private func measuredTurn<Value>(with value: Value, _ body: (Value, isolated Shard) -> Void) {
    if registry.hasOneConnection { return shard.turnOnLoop(with: value, body) }
    let start = settings.now()
    shard.turnOnLoop(with: value, from: start, body)
    let end = settings.now()
    loopTime.add(from: start, to: end)
    identityTime?.time.add(from: start, to: end)
  }

  /// True if other clients are served before this one: it uses much of the loop's time, or is about
  /// to, and other clients wait.
  var mustQueue: Bool {
    guard
      loopTime.isExceeded || identityTime?.time.isExceeded ?? false
        || connection?.isInLargeFrame ?? false
    else { return false }
    return areClientsWaiting
  }

  private var areClientsWaiting: Bool {
    guard let queue = registry.yieldQueue, !queue.isOver else { return false }
    return !queue.isEmpty || registry.writeCoalescer.isLong
  }

  /// True while the shard runs a turn or writes to outputs: events of channels wait until it is over.
  var isShardBusy: Bool {
    connection?.isShardBusy ?? shard.assumeIsolated { $0.turnOutcome.isBusy }
  }

  /// Calls `body` now, or in a later task of the loop if the shard is busy: a write after a turn can
  /// make the channel call back immediately.
  func outsideOfTurns(
    _ context: ChannelHandlerContext, _ body: @escaping @Sendable (ConnectionHandler) -> Void
  ) {
    guard isShardBusy else { return body(self) }
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute { body(handler.value) }
  }

  /// Ends the connection after its open requests have got their responses, or after a time limit.
  func finish() {
    // Other nodes continue the sessions.
    webSocket?.serverEnds(registry.nodes == nil ? .goingAway : .serviceRestart)
    notify(.finish)
  }

  /// True once nothing more is written to the connection, or it has gone.
  var isClosing: Bool { place.isOver }

  /// The time at which the client connected, if it has sent no message yet or is not authorised;
  /// otherwise nil.
  var silentSince: ContinuousClock.Instant? {
    guard isRemote, !isClosing, let connection,
      connection.messageCount == 0 || !connection.isAuthorised
    else { return nil }
    return idleTimeout.since
  }

  /// True if the first bytes of the client have arrived and are read soon.
  var isArriving: Bool {
    connection?.messageCount == 0 && !readGate.isHeldBack
      && context?.channel.hasUnreadBytes == true
  }

  /// True while the client waits for a response and reads.
  var hasOpenResponses: Bool { !isClosing && place.status?.hasOpenResponses == true }

  /// True once the client has sent `exit`.
  var hasExited: Bool { place.status?.hasExited == true }

  /// Stops reading requests before the server ends. Until `finish`, the client still receives
  /// updates that the open requests of other clients cause.
  func linger() { notify(.linger) }

  /// Sends the client the reason why it is served no more; the connection closes then.
  func refuse(_ refusal: Refusal) {
    afterWaitingClients { handler in
      guard let status = handler.place.status, !status.isRefused, !status.isOver else { return }
      handler.settings.logger.info(
        "closed a client that exceeded a limit",
        metadata: handler.logMetadata(["limit": "\(refusal)"]))
      handler.notify(.refused(refusal))
    }
  }

  /// Returns the metadata of a log line about the connection.
  func logMetadata(_ others: Logger.Metadata = [:]) -> Logger.Metadata {
    connection?.logMetadata(others) ?? others
  }

  func credentialsChanged() { notify(.credentialsChanged) }

  func expireLater() {
    guard !isClosing, let context else { return }
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: TimeAmount(ConnectionTimes.openRequests)) {
      handler.value.notify(.timeIsUp)
      // The connection stays open while the client has yet to read earlier output.
      handler.value.expireLater()
    }
  }

  // The largest number of bytes that are held.
  static let coalescedBytes = 8 << 10
}

// MARK: - The place of the connection

extension ConnectionHandler.Place {
  /// The connection on this loop; nil if there is none.
  var connection: Connection? {
    if case .connected(let connection, _) = self { connection } else { nil }
  }
  /// The relay to the connection on another loop; nil if there is none.
  var relay: Relay? { if case .relayed(let relay) = self { relay } else { nil } }

  /// All properties of the connection; nil if there is none. Reads use single ones, which cost less.
  var status: ConnectionStatus? { connection.map(ConnectionStatus.init) ?? relay?.status }
  var isOver: Bool { connection?.life.isOver ?? relay?.status.isOver ?? true }
  var isInLargeFrame: Bool { connection?.isInLargeFrame ?? relay?.status.isInLargeFrame ?? false }
  /// True if the channel may read.
  var wantsBytes: Bool { connection?.wantsBytes ?? relay?.wantsBytes ?? true }
  /// True if the connection awaits `caughtUp`.
  var isCongested: Bool { connection?.isCongested ?? relay?.isCongested ?? false }
}

// MARK: - Events of the channel

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
    guard case .absent = place else { return }
    // because this runs on the shard's executor; see `turnOnLoop`.
    nonisolated(unsafe) let handler = self
    shard.assumeIsolated { shard in
      let connection = Connection(
        settings: handler.settings, output: handler, isWebSocket: handler.isWebSocket,
        isolation: shard)
      handler.place = .connected(connection, next: nil)
    }
    registry.add(self)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    guard isShardBusy else { return receive(buffer) }
    // A write has noticed that the client is gone, and hands over what the client had sent before.
    outsideOfTurns(context) { $0.receive(buffer) }
  }

  private func receive(_ buffer: ByteBuffer) {
    guard !isClosing, let context else { return }
    pace(buffer.readableBytes, context)
    willServe(buffer.readableBytes)
    buffer.withUnsafeReadableBytes { notify(.received($0)) }
    chooseBuffers(context)
  }

  private func chooseBuffers(_ context: ChannelHandlerContext) {
    guard place.isInLargeFrame != usesLargeBuffers else { return }
    usesLargeBuffers.toggle()
    // A channel without this option keeps its buffers.
    try? context.channel.syncOptions?.setOption(
      .recvAllocator, value: ReceiveBuffers(isInLargeFrame: usesLargeBuffers))
  }

  /// Sends held writes of other clients first, if processing `byteCount` bytes of this client would
  /// delay them for long.
  func willServe(_ byteCount: Int) {
    registry.writeCoalescer.willServe(byteCount)
    registry.broadcastCoalescer.willServe()
  }

  /// Processes frames that a `FrameSource` has read, in one turn of the shard.
  func receive(from source: any FrameSource, byteCount: Int) {
    guard !isClosing, let context else {
      return source.forEachFrame { _ in }
    }
    pace(byteCount, context)
    willServe(byteCount)
    switch place {
    case .absent: break
    case .connected(let connection, _):
      measuredTurn(with: (connection, source)) { value, shard in
        let (connection, source) = value
        source.forEachFrame { connection.take(.framed($0), isolation: shard) }
        if !connection.canBuffer(partialBytes: source.partialBytes) { source.skipFrame() }
      }
    case .relayed(let relay): relay.take(framesOf: source)
    }
    chooseBuffers(context)
  }

  /// Delays the read while the client does not read: back-pressure, not memory.
  func read(context: ChannelHandlerContext) {
    if isClosing { return context.read() }
    readGate.ask()
    resumeReading()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isCongested = !context.channel.isWritable
    // Writability can change twice within one write; the connection checks it itself then.
    if relay != nil { updateFlow(adding: 0) }
    guard !isCongested, place.isCongested else { return }
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
    notify(.caughtUp)
    resumeReading()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .inputClosed? = event as? ChannelEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    endInput()
  }

  /// Handles the end of the client's input.
  func endInput() {
    guard let context else { return }
    outsideOfTurns(context) { $0.afterWaitingClients { $0.notify(.inputEnded) } }
  }

  /// Calls `body` now, or after the clients that wait: no client waits for it.
  func afterWaitingClients(_ body: @escaping (ConnectionHandler) -> Void) {
    guard areClientsWaiting else { return body(self) }
    registry.yieldQueue?.wait { [self] in
      body(self)
      return .zero
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    settings.logger.debug(
      "closed a connection after an error", metadata: logMetadata(["error": "\(error)"]))
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    outsideOfTurns(context) { $0.afterWaitingClients { $0.disconnect() } }
    context.fireChannelInactive()
  }

  /// Releases the context, also of a channel that has never been active: it has no `channelInactive`.
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  private func disconnect() {
    // First, because other clients may notice the end and connect.
    if let identity = identityTime?.identity { registry.counts.release(identity) }
    notify(.disconnected)
    if case .connected(_, let next?) = place { next.post(.disconnected) }
    place = .absent
    webSocket = nil
    context = nil
    isCongested = false
    registry.remove(self)
  }
}
