// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// The channel's end of a relay to a connection on another loop.
final class Relay {
  fileprivate(set) var end: RelayEnd
  /// The end that gets the events of the channel. It stays a former one, which passes them on, until all
  /// reads are processed: some can wait for other clients there, and later events must not overtake them.
  private var receiver: RelayEnd
  /// The last known status of the connection.
  fileprivate(set) var status = ConnectionStatus()
  /// Number of reads that the connection has not processed. One read of TLS can have several parts.
  fileprivate var pendingReads = 0
  /// True if the connection waits until the channel is writable.
  fileprivate(set) var isCongested = false

  fileprivate init(to end: RelayEnd, of connection: Connection) {
    (self.end, receiver) = (end, end)
    status.messageCount = connection.messageCount
  }

  /// True if the channel may read.
  var wantsBytes: Bool { status.wantsBytes && pendingReads == 0 }

  /// Passes an event to the connection.
  func take(_ event: Connection.Event) {
    guard let event = RelayEvent(event) else { return }
    switch event {
    case .received: pendingReads += 1
    case .caughtUp: isCongested = false
    default: break
    }
    receiver.post(event)
  }

  /// Passes frames of a WebSocket to the connection.
  func take(framesOf source: any FrameSource) {
    var frames: [Connection.Arrival] = []
    source.forEachFrame { frames.append(Connection.Arrival($0)) }
    pendingReads += 1
    receiver.post(.frames(frames, partialBytes: source.partialBytes))
  }

  /// Passes events to the present end from now on if no read can wait at a former one.
  fileprivate func updateReceiver() {
    if pendingReads == 0 { receiver = end }
  }
}

extension ConnectionHandler: RelayOrigin {
  func relay(_ request: RelayRequest, to shard: Int) {
    guard let loop = context?.eventLoop,
      let serving = registry.otherLoops.first(where: { $0.shard.place.index == shard })
    else { return }
    RelayEnd(
      on: serving, settings, for: NIOLoopBound(self, eventLoop: loop), on: loop,
      isWebSocket: isWebSocket
    ).begin(request, for: RelayOriginReference(self, on: loop))
  }

  func link(_ request: NodeLinkRequest, for connection: Connection) -> any NodeLink {
    guard let nodes = registry.nodes else { preconditionFailure("a single node owns all sessions") }
    return nodes.connect(request, for: connection)
  }

  func servesNode() {
    guard let channel = context?.channel else { return }
    registry.counts.servesNode(ObjectIdentifier(channel))
  }

  func serviceRestarts() { webSocket?.serverEnds(.serviceRestart) }

  func relayRefused(_ number: UInt32, _ refusal: RelayRefusal) {
    inTurn { $0.relayRefused(number, refusal, isolation: $1) }
  }

  func relayAccepted(_ number: UInt32, by end: RelayEnd) {
    var isAccepted = false
    shard.turnOnLoop(with: self) { handler, shard in
      guard let connection = handler.connection else { return }
      isAccepted = connection.relayAccepted(number, isolation: shard)
      // Before the turn ends, because the connection may leave then.
      if isAccepted { handler.place = .connected(connection, next: end) }
    }
    if !isAccepted { end.post(.disconnected) }
  }

  func handOver() {
    guard case .connected(let connection, let end?) = place, let loop = context?.eventLoop else {
      return
    }
    place = .relayed(Relay(to: end, of: connection))
    let earlier = EarlierConnection(connection, of: shard, on: loop, for: end)
    updateFlow(adding: 0)
    end.open(connection.takeHandover(), [earlier])
  }

  /// Performs the output of the connection on the other loop.
  func take(_ batch: RelayBatch, from end: RelayEnd) {
    guard let relay, relay.end === end, let context else { return batch.drop() }
    relay.status = batch.status
    relay.pendingReads -= batch.endedReads
    defer { relay.updateReceiver() }
    var byteCount = 0
    for part in batch.parts {
      switch part {
      case .bytes(let bytes):
        byteCount += bytes.readableBytes
        metrics.sentBytes.add(bytes.readableBytes)
        context.write(wrapOutboundOut(bytes), promise: nil)
      case .expireLater: expireLater()
      case .endOutput: endOutput()
      case .awaitInputEnd: awaitInputEnd()
      case .serviceRestarts: serviceRestarts()
      case .close:
        context.flush()
        close()
      case .skipFrame: webSocket?.skipFrame()
      case .handOver(let next, let earlier, let handover):
        context.flush()
        relay.end = next
        relay.isCongested = false
        relay.status.wantsBytes = false
        end.flow.arrived(byteCount, held: 0)
        byteCount = 0
        updateFlow(adding: 0)
        return next.open(handover, earlier)
      }
    }
    if byteCount > 0 { context.flush() }
    updateFlow(adding: byteCount)
    if isClosing { if readGate.isHeldBack { context.read() } } else { resumeReading() }
  }

  /// Notifies the connection on the other loop once the channel is writable.
  func notifyWhenCaughtUp(_ end: RelayEnd) {
    guard let relay, relay.end === end else { return }
    relay.isCongested = true
    updateFlow(adding: 0)
    if !isCongested { relay.take(.caughtUp) }
  }

  /// Updates the number of bytes that the connection on the other loop sees as waiting.
  func updateFlow(adding byteCount: Int) {
    relay?.end.flow.arrived(byteCount, held: isCongested ? max(1, bufferedBytes) : 0)
  }

  private func inTurn(_ body: (Connection, isolated Shard) -> Void) {
    guard let connection else { return }
    shard.turnOnLoop(with: connection, body)
  }
}
