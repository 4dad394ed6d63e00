// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import Wire

/// The output of a connection whose channel belongs to another event loop: its client has attached
/// to a session of this shard.
///
/// A channel cannot move to another loop, and neither can the state of TLS. So the channel and its
/// handlers stay, and bytes are relayed: one message between the loops for each read, and one for
/// the output of each turn. The channel reads again when the connection has processed the last
/// read, and the connection counts the bytes that the channel has not sent. So order, limits and
/// back-pressure are those of a direct connection.
final class RelayEnd: @unchecked Sendable {
  // @unchecked because everything except constants and `flow` is used on the loop of the shard
  // only.

  /// The bytes on the way to the channel.
  let flow = RelayFlow()
  private let serving: ServingLoop
  private let settings: ServerSettings
  /// The channel's handler.
  private let handler: NIOLoopBound<ConnectionHandler>
  private let handlerLoop: any EventLoop
  private let isWebSocket: Bool

  private var phase = Phase.joining(early: [])
  /// The connection; nil before the client's request, and after the end or the replacement.
  private var connection: Connection?
  private var identityTime: IdentityTime?
  private var loopTime: LoopTime
  /// The end that replaces this one when everything is sent.
  private var next: RelayEnd?
  private var earlier = EarlierConnections()

  private var bytes = ByteBuffer()
  private var batch = RelayBatch(status: ConnectionStatus())
  private var isFlushScheduled = false
  private var isCaughtUpAwaited = false
  /// True once the connection has asked to end together with the earlier ones.
  private var isEnding = false
  /// Number of events that wait for other clients.
  private var queuedEvents = 0

  private enum Phase {
    /// The former connection of the channel has not sent everything. Events come directly from the end
    /// that this one replaces, and wait for the input that comes by the loop of the channel.
    case joining(early: [RelayEvent])
    case open
    /// Another end has replaced this one; later events are for it.
    case replaced(by: RelayEnd)
    case ended
  }

  private var isOpen: Bool { if case .open = phase { true } else { false } }
  private var successor: RelayEnd? { if case .replaced(let end) = phase { end } else { nil } }

  /// - Parameters:
  ///   - serving: The loop of the session.
  ///   - settings: The settings of all connections.
  ///   - handler: The handler of the channel.
  init(
    on serving: ServingLoop, _ settings: ServerSettings,
    for handler: NIOLoopBound<ConnectionHandler>,
    on handlerLoop: any EventLoop, isWebSocket: Bool
  ) {
    self.serving = serving
    self.settings = settings
    self.handler = handler
    self.handlerLoop = handlerLoop
    self.isWebSocket = isWebSocket
    loopTime = LoopTime(since: settings.now())
  }

  private var registry: ConnectionRegistry { serving.registry.value }

  // MARK: Called on any loop

  /// Carries out the client's request, and reports the result to its origin.
  func begin(_ request: RelayRequest, for origin: RelayOriginReference) {
    serving.loop.execute { [self] in
      registry.add(self)
      inTurn { end, shard in
        let connection = Connection(
          settings: end.settings, output: end, isWebSocket: end.isWebSocket, isolation: shard)
        end.connection = connection
        connection.carryOut(request, isolation: shard) { refusal in
          end.report(refusal, of: request.number, to: origin)
        }
        if let identity = connection.identity {
          end.identityTime = end.registry.time(of: identity)
        }
      }
    }
  }

  /// Serves the client from now on.
  func open(_ handover: RelayHandover, _ earlier: [EarlierConnection]) {
    serving.loop.execute { [self] in
      guard case .joining(let early) = phase else {
        for connection in earlier { connection.disconnect() }
        return
      }
      phase = .open
      self.earlier.add(earlier)
      inTurn { end, shard in end.connection?.take(handover, isolation: shard) }
      flush(evenIfEmpty: true)
      for event in early { take(event) }
    }
  }

  /// Passes an event of the channel to the connection.
  func post(_ event: RelayEvent) { serving.loop.execute { [self] in take(event) } }

  /// Handles the end of the responses of an earlier connection.
  func earlierResponded(_ earlier: EarlierConnection) {
    serving.loop.execute { [self] in
      if let successor { return successor.earlierResponded(earlier) }
      guard let connection else { return }
      self.earlier.markResponded(earlier)
      inTurn { _, _ in connection.earlierResponded() }
      flush()
    }
  }

  /// Writes messages of an earlier connection to the client.
  func post(messages: [UInt8]) {
    serving.loop.execute { [self] in
      if let successor { return successor.post(messages: messages) }
      inTurn { end, shard in end.connection?.write(messages: messages, isolation: shard) }
      flush()
    }
  }

  /// Calls `body` after all messages that were posted until now have reached the present end.
  func afterPassedMessages(_ body: @escaping @Sendable () -> Void) {
    serving.loop.execute { [self] in
      if let successor { successor.afterPassedMessages(body) } else { body() }
    }
  }

  // MARK: Events

  private func report(_ refusal: RelayRefusal?, of number: UInt32, to origin: RelayOriginReference)
  {
    guard let refusal else {
      return origin.execute { [self] in $0.relayAccepted(number, by: self) }
    }
    origin.execute { $0.relayRefused(number, refusal) }
    // After this turn.
    post(.disconnected)
  }

  private func take(_ event: RelayEvent) {
    // Later, if earlier events still wait for other clients here.
    if let successor, queuedEvents == 0 { return successor.post(event) }
    if case .joining(var early) = phase, !event.isEnd {
      // Moved out, because a second reference would copy the events.
      phase = .joining(early: [])
      early.append(event)
      phase = .joining(early: early)
      return
    }
    if case .databaseIsGone(let isLong) = event, awaitsEarlier {
      // The requests in earlier sessions get their errors before the client is disconnected.
      return earlier.databaseIsGone(isLong: isLong) { [self] in
        serving.loop.execute { [self] in serveOrPassOn(event) }
      }
    }
    guard mustQueue(event) else { return serveOrPassOn(event) }
    queuedEvents += 1
    registry.yieldQueue?.wait { [self] in
      queuedEvents -= 1
      serveOrPassOn(event)
      return event.isRead ? loopTime.lastTurn : .zero
    }
  }

  /// True if other clients are served before the event, as for a direct connection.
  private func mustQueue(_ event: RelayEvent) -> Bool {
    guard let queue = registry.yieldQueue, !queue.isOver else { return false }
    if queuedEvents > 0 { return true }
    guard !queue.isEmpty || registry.writeCoalescer.isLong else { return false }
    return !event.isRead || loopTime.isExceeded || identityTime?.time.isExceeded ?? false
      || connection?.isInLargeFrame ?? false
  }

  /// Serves an event that has waited; the end may have been replaced meanwhile.
  private func serveOrPassOn(_ event: RelayEvent) {
    if let successor { successor.post(event) } else { serve(event) }
  }

  private func serve(_ event: RelayEvent) {
    guard connection != nil else { return }
    // Before the turn, which may hand over and then sends the batch.
    if event.isRead { batch.endedReads += 1 }
    if case .caughtUp = event { isCaughtUpAwaited = false }
    registry.writeCoalescer.willServe(0)
    registry.broadcastCoalescer.willServe()
    let start = settings.now()
    serving.shard.turnOnLoop(with: self, from: start) { $0.carryOut(event, $1) }
    let time = settings.now()
    loopTime.add(from: start, to: time)
    identityTime?.time.add(from: start, to: time)
    if event.isEnd { return end() }
    flush()
  }

  private func carryOut(_ event: RelayEvent, _ shard: isolated Shard) {
    guard let connection else { return }
    switch event {
    case .received(let bytes):
      bytes.withUnsafeReadableBytes { connection.take(.received($0), isolation: shard) }
    case .frames(let frames, let partialBytes):
      for frame in frames { connection.take(frame, isolation: shard) }
      if !connection.canBuffer(partialBytes: partialBytes) { append(.skipFrame) }
    default:
      if let event = event.event { connection.take(event, isolation: shard) }
    }
  }

  private func inTurn(_ body: (RelayEnd, isolated Shard) -> Void) {
    serving.shard.turnOnLoop(with: self, body)
  }

  /// Releases the connection after its last event.
  private func end() {
    (connection, phase) = (nil, .ended)
    earlier.disconnect()
    earlier = EarlierConnections()
    batch.parts = []
    next?.post(.disconnected)
    registry.remove(self)
  }

  /// Sends a status that has changed without output; called once a second.
  func refresh() { flush() }

  // MARK: Output

  private func append(_ part: RelayBatch.Part) {
    endBytes()
    batch.parts.append(part)
    flushLater()
  }

  private func endBytes() {
    guard bytes.readableBytes > 0 else { return }
    batch.parts.append(.bytes(bytes))
    bytes = ByteBuffer()
  }

  private func flushLater() {
    guard !isFlushScheduled, isOpen else { return }
    isFlushScheduled = true
    serving.loop.execute { [self] in
      isFlushScheduled = false
      flush()
    }
  }

  /// Sends the output and the status, if either is new, to the channel.
  private func flush(evenIfEmpty: Bool = false) {
    guard isOpen, let connection else { return }
    let status = ConnectionStatus(connection)
    endBytes()
    guard evenIfEmpty || !batch.parts.isEmpty || batch.endedReads > 0 || status != batch.status
    else {
      return
    }
    var sent = batch
    sent.status = status
    batch = RelayBatch(status: status)
    let (handler, batch) = (handler, sent)
    handlerLoop.execute { [self] in handler.value.take(batch, from: self) }
  }
}

// MARK: - Output of the connection

extension RelayEnd: ConnectionOutput {
  func write(_ bytes: UnsafeRawBufferPointer) {
    self.bytes.writeBytes(bytes)
    flow.sent(bytes.count)
    flushLater()
  }

  func write(_ buffer: BroadcastBuffer, from start: Int) {
    let sent =
      buffer.sent as? SentBuffer ?? SentBuffer(ByteBuffer(bytes: buffer.bytes))
    buffer.sent = sent
    let bytes = sent.bytes(from: start)
    flow.sent(bytes.readableBytes)
    append(.bytes(bytes))
  }

  var isCongested: Bool {
    guard flow.isCongested else { return false }
    if !isCaughtUpAwaited, isOpen {
      isCaughtUpAwaited = true
      let handler = handler
      handlerLoop.execute { [self] in handler.value.notifyWhenCaughtUp(self) }
    }
    return true
  }

  var waitingBytes: Int { flow.waitingBytes }

  func resumeReading() { flushLater() }

  func yieldToOthers() {
    registry.yieldQueue?.wait { [self] in
      registry.writeCoalescer.willServe(0)
      registry.broadcastCoalescer.willServe()
      inTurn { end, shard in end.connection?.take(.othersServed, isolation: shard) }
      flush()
      return .zero
    }
  }

  func expireLater() { append(.expireLater) }
  func endOutput() { append(.endOutput) }
  func awaitInputEnd() { append(.awaitInputEnd) }
  func serviceRestarts() { append(.serviceRestarts) }

  func link(_ request: NodeLinkRequest, for connection: Connection) -> any NodeLink {
    guard let nodes = registry.nodes else { preconditionFailure("a single node owns all sessions") }
    return nodes.connect(request, for: connection)
  }

  func close() { append(.close) }

  var hasEarlier: Bool { earlier.mayHaveRequests }

  func cancelEarlier(_ request: RequestID) { earlier.cancel(request) }

  func expireEarlier() { earlier.expire() }

  func endWithEarlier() {
    guard !isEnding else { return }
    isEnding = true
    post(.databaseIsGone(isLong: true))
  }

  // The former connection is the next earlier one, and may have responses of a batch.
  var awaitsEarlier: Bool { !isOpen || earlier.oweResponses }

  func relay(_ request: RelayRequest, to shard: Int) {
    guard let serving = registry.otherLoops.first(where: { $0.shard.place.index == shard }) else {
      return
    }
    RelayEnd(on: serving, settings, for: handler, on: handlerLoop, isWebSocket: isWebSocket)
      .begin(request, for: RelayOriginReference(self, on: self.serving.loop))
  }

  func handOver() {
    guard let next, let connection else { return }
    self.next = nil
    let leaving = EarlierConnection(connection, of: serving.shard, on: serving.loop, for: next)
    let moved = earlier.move(to: next, adding: leaving)
    append(.handOver(to: next, moved, connection.takeHandover()))
    flush()
    (self.connection, phase) = (nil, .replaced(by: next))
    earlier = EarlierConnections()
    registry.remove(self)
  }
}

extension RelayEnd: RelayOrigin {
  func relayRefused(_ number: UInt32, _ refusal: RelayRefusal) {
    inTurn { end, shard in end.connection?.relayRefused(number, refusal, isolation: shard) }
    flush()
  }

  func relayAccepted(_ number: UInt32, by end: RelayEnd) {
    var isAccepted = false
    inTurn { origin, shard in
      isAccepted = origin.connection?.relayAccepted(number, isolation: shard) ?? false
      // Before the turn ends, because the connection may leave then.
      if isAccepted { origin.next = end }
    }
    if !isAccepted { end.post(.disconnected) }
    flush()
  }
}
