// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import ServerCore
internal import Wire

/// The channel of a link to the node of a client's session.
///
/// It reads once, and again when the client has received everything. It keeps no bytes but an
/// incomplete header, and the client's messages of one turn.
final class NodeLinkHandler: ChannelDuplexHandler, @unchecked Sendable {
  // @unchecked because it is used on its loop only, which is also the thread of the shard.

  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum Phase {
    /// The node has not accepted the secret.
    case greeting
    /// The client's request is carried out.
    case attaching
    /// The client is attached.
    case open
    case ended
  }

  let node: ClusterNode
  private let number: UInt32
  private weak var connection: Connection?
  private let links: NodeLinks
  private let loop: any EventLoop
  private var context: ChannelHandlerContext?
  private var phase = Phase.greeting
  private var reader = NodeFrameReader()
  /// A message for this node that has not ended.
  private var control: [UInt8] = []
  /// The bytes for the node that were not written.
  private var out = ByteBuffer()
  private var isFlushScheduled = false
  private var endsOutput = false
  private var hasEndedOutput = false
  private var isReadHeldBack = false
  private var isWriteAwaited = false
  /// The reason that the node has given for its end; nil: none.
  private var end: NodeControl?

  init(
    _ request: NodeLinkRequest, for connection: Connection, of links: NodeLinks,
    on loop: any EventLoop
  ) {
    (node, number) = (request.node, request.number)
    (self.connection, self.links, self.loop) = (connection, links, loop)
    request.greeting.withUnsafeBytes { append($0) }
    watch(Self.greetingTime) { phase in if case .greeting = phase { true } else { false } }
    watch(Self.attachingTime) { phase in if case .attaching = phase { true } else { false } }
  }

  var hasEnded: Bool { if case .ended = phase { true } else { false } }

  /// Fails if the phase has not changed in time.
  private func watch(_ time: TimeAmount, _ isLate: @escaping @Sendable (Phase) -> Bool) {
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: time) {
      let link = bound.value
      if isLate(link.phase) { link.fail(nil) }
    }
  }

  /// Ends the attempt, or the link.
  ///
  /// - Parameter reason: A sentence for the log, after which other attempts would fail, too; nil for
  ///   usual reasons.
  func fail(_ reason: String?) {
    if let reason { links.log(reason) }
    ended(isFinal: reason != nil)
  }

  /// Ends the link, because its node has lost its lease.
  func nodeIsGone() { if !hasEnded { ended() } }

  private func ended(isFinal: Bool = false) {
    if hasEnded { return }
    let phase = phase
    close()
    inTurn { connection, shard in
      switch phase {
      case .ended: break
      case .greeting, .attaching:
        connection.linkFailed(number, isFinal: isFinal, isolation: shard)
      case .open:
        let restarts = end != .closes || reader.isInMessage
        connection.linkEnded(restarts: restarts, isolation: shard)
      }
    }
  }

  /// Runs `body` as one turn. Turns do not nest: the channel is written to in tasks of the loop only, so
  /// its events come outside of turns.
  private func inTurn(_ body: (Connection, isolated Shard) -> Void) {
    guard let connection else { return }
    links.shard.turnOnLoop(with: connection, body)
  }

  private static let greetingTime = TimeAmount.seconds(3)
  private static let attachingTime = TimeAmount.seconds(12)
  private static let maximumOut = 64 << 10
  private static let maximumControl = 1 << 20
}

// MARK: - Events of the channel

extension NodeLinkHandler {
  func handlerAdded(context: ChannelHandlerContext) {
    guard !hasEnded else { return context.close(promise: nil) }
    self.context = context
    flush()
    context.read()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    guard !hasEnded else { return }
    var fault: String?
    inTurn { connection, shard in
      buffer.withUnsafeReadableBytes { bytes in
        // A copy, because the connection may look at the reader meanwhile.
        var reader = reader
        do throws(NodeFrameReader.Fault) {
          try reader.read(bytes) { if fault == nil { fault = take($0, connection, shard) } }
        } catch {
          fault =
            fault ?? "the node \(node.name) at \(node.address) does not support the node protocol"
        }
        self.reader = reader
      }
    }
    // After the turn, because the end of the link is a turn.
    if let fault { return fail(fault) }
    readMore()
  }

  /// - Returns: The reason to end the link; nil if it continues.
  private func take(
    _ part: NodeFrameReader.Part, _ connection: Connection, _ shard: isolated Shard
  ) -> String? {
    if case .open = phase, !part.isControl {
      connection.linkReceived(
        part.bytes, of: part.messageBytes, isFirst: part.isFirst, isLast: part.isLast,
        isolation: shard)
      return nil
    }
    guard control.count + part.bytes.count <= Self.maximumControl else { return nil }
    control += part.bytes
    guard part.isLast else { return nil }
    let message = control
    control = []
    switch phase {
    case .greeting: return greeted(message, connection)
    case .attaching, .open: take(control: message, connection, shard)
    case .ended: break
    }
    return nil
  }

  private func greeted(_ response: [UInt8], _ connection: Connection) -> String? {
    let text = String(decoding: response, as: UTF8.self)
    guard text.contains("\"result\"") else {
      return "the node \(node.name) at \(node.address) refuses this node: \(text)"
    }
    phase = .attaching
    connection.linkGreeted(number)
    return nil
  }

  private func take(
    control message: [UInt8], _ connection: Connection, _ shard: isolated Shard
  ) {
    switch message.first.flatMap(NodeControl.init) {
    case .attached:
      phase = .open
      connection.linkOpened(number, isolation: shard)
    case .refused:
      connection.linkRefused(number, Array(message.dropFirst()), isolation: shard)
    case .moved: connection.linkFailed(number, isolation: shard)
    case .ends: end = .ends
    case .closes: if end == nil { end = .closes }
    case nil: break
    }
  }

  private func readMore() {
    guard let context else { return }
    if connection?.wantsLinkBytes == true { context.read() } else { isReadHeldBack = true }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .inputClosed? = event as? ChannelEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    ended()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    links.settings.logger.debug(
      "a link to another node failed", metadata: ["node": "\(node.name)", "error": "\(error)"])
    ended()
  }

  func channelInactive(context: ChannelHandlerContext) {
    ended()
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { notifyWritable() }
    context.fireChannelWritabilityChanged()
  }

  private func notifyWritable() {
    guard isWriteAwaited, context?.channel.isWritable == true, out.readableBytes == 0 else {
      return
    }
    isWriteAwaited = false
    inTurn { $0.linkIsWritable(isolation: $1) }
  }

  private func append(_ message: UnsafeRawBufferPointer) {
    FrameWriter(framing: .headers).write(message) { out.writeBytes($0) }
  }

  private func flush() {
    isFlushScheduled = false
    guard let context else { return }
    if out.readableBytes > 0 {
      let bytes = out
      out = ByteBuffer()
      context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }
    if endsOutput, !hasEndedOutput {
      hasEndedOutput = true
      context.close(mode: .output, promise: nil)
    }
    notifyWritable()
  }

  private func flushLater() {
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.flush() }
  }
}

// MARK: - The link of a connection

extension NodeLinkHandler: NodeLink {
  func send(_ message: UnsafeRawBufferPointer) {
    guard !hasEnded, !endsOutput else { return }
    append(message)
    flushLater()
  }

  var isCongested: Bool {
    guard out.readableBytes > Self.maximumOut || context?.channel.isWritable != true else {
      return false
    }
    isWriteAwaited = true
    flushLater()
    return true
  }

  func endInput() {
    endsOutput = true
    flushLater()
  }

  func resumeReading() {
    guard isReadHeldBack else { return }
    isReadHeldBack = false
    let bound = NIOLoopBound(self, eventLoop: loop)
    // Not in the turn.
    loop.execute { bound.value.readMore() }
  }

  func close() {
    guard !hasEnded else { return }
    phase = .ended
    links.remove(self)
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.context?.close(promise: nil) }
  }
}
