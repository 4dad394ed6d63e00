// SPDX-License-Identifier: Apache-2.0

internal import Delivery
public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// A client that attaches to a session of another node:
//
//     connection of the client           connection on the node of the session
//     ------------------------           -------------------------------------
//     link                      ------>  serveNode
//     linkGreeted               <------  success
//     sends the request         ------>  attachRelayed
//     linkRefused, linkFailed   <------  error: it ends
//     linkOpened                <------  success
//     forwards the client's messages, writes those of the node
//
// This connection still has the limits of the client, and its session here is a new one.

/// The state of a connection whose client has attached to a session of another node, or is about
/// to.
final class LinkState {
  let link: any NodeLink
  /// The client's request as JSON text.
  let text: [UInt8]
  /// The time of the request, before the first attempt to reach the node.
  let began: ContinuousClock.Instant
  /// True after the client has attached.
  var isOpen = false
  /// The number of the pause while the link takes no more messages.
  var pause: UInt32?

  init(_ link: any NodeLink, _ text: [UInt8], since began: ContinuousClock.Instant) {
    (self.link, self.text, self.began) = (link, text, began)
  }
}

extension Connection {
  /// Passes a request to attach to the node of the session; the client's next messages wait for the
  /// result.
  ///
  /// - Throws: `RPCError`.
  func link(
    _ request: Request, _ text: [UInt8], to node: ClusterNode
  ) throws(RPCError) {
    if isNodeLink { throw Self.hasMoved }
    if reportOtherNode(node, text) { return }
    try link(OffloadedRequest(request), text, to: node)
  }

  func link(
    _ request: OffloadedRequest, _ text: [UInt8], to node: ClusterNode
  ) throws(RPCError) {
    if life.isTimeUp { throw RPCError(.requestCancelled, "cancelled") }
    guard request.batch == nil else {
      throw RPCError(
        .invalidRequest,
        "another node serves the session; send session/attach outside of a batch")
    }
    guard let nodes = settings.nodes else { throw Self.isUnreachable }
    let began = linkState?.text == text ? linkState?.began : nil
    let number = begin(request, endsWithTime: true)
    let link = output.link(
      NodeLinkRequest(
        number: number, node: node,
        greeting: NodeRelay.greeting(
          nodes.secret, identity: identity, inputs: inputs?.state.left)),
      for: self)
    linkState = LinkState(link, text, since: began ?? settings.now())
  }

  private static var isUnreachable: RPCError {
    RPCError(
      .internalError, "the node of the session does not respond; attach again later")
  }

  /// The error of a request to attach to a session that another node than this one serves, on a
  /// connection that a node relays.
  static var hasMoved: RPCError {
    RPCError(
      .internalError, "another node serves the session; attach to it on a new connection")
  }

  // MARK: Events of the link, each in a turn

  /// The node accepts the link, and gets the client's request.
  ///
  /// The node may have been out of reach for long, and the client may have another connection now,
  /// which an old request must not evict. If the client was cut off as well, this node has not
  /// noticed.
  public func linkGreeted(_ number: UInt32) {
    guard let linkState, offloaded?.number == number else { return dropLink() }
    let isRecent = settings.now() - linkState.began < NodeRelay.evictionTime
    NodeRelay.attach(linkState.text, evicts: life.hasInput && isRecent).withUnsafeBytes {
      linkState.link.send($0)
    }
  }

  /// The client has attached to the session of the other node.
  public func linkOpened(_ number: UInt32, isolation shard: isolated Shard) {
    guard let linkState, offloaded?.number == number, !life.isOver else { return dropLink() }
    linkState.isOpen = true
    offloaded = nil
    writer.offloadEnded()
    participant.session.leave(participant, isolation: shard)
    writer.willLeaveSession()
    participant = Participant(writer.id, isolation: shard)
    templates = RequestTemplates()
    writer.resume(shard)
    if life.isDraining { endLinkInput() }
  }

  /// The other node has refused the request; `error` is JSON text.
  public func linkRefused(_ number: UInt32, _ error: [UInt8], isolation shard: isolated Shard) {
    dropLink()
    end(number, shard) { connection, request in
      guard let id = request.id else { return }
      connection.writer.respond(to: ReplyAddress(id: id, batch: request.batch)) {
        $0.raw(",\"error\":")
        $0.raw(error)
        $0.raw(byte: UInt8(ascii: "}"))
      }
    }
  }

  /// The other node could not be reached, or does not serve the session any more. The session is
  /// looked up again, until the time is over.
  ///
  /// - Parameters:
  ///   - number: The number of the request.
  ///   - isFinal: True if another attempt would fail, too.
  ///   - shard: The shard of the connection.
  public func linkFailed(
    _ number: UInt32, isFinal: Bool = false, isolation shard: isolated Shard
  ) {
    guard let state = linkState, offloaded?.number == number else { return }
    state.link.close()
    let patience = settings.nodes?.patience ?? .zero
    guard !isFinal, settings.now() - state.began < patience else {
      linkState = nil
      return end(number, shard) { connection, request in
        connection.continue(request, { _, _ throws(RPCError) in throw Self.isUnreachable }, shard)
      }
    }
    // because it is used on the shard only.
    nonisolated(unsafe) weak let connection = self
    let text = state.text
    shard.wait(Self.retryInterval) { shard in
      connection?.end(number, shard) { connection, _ in
        guard !connection.life.isTimeUp else { return }
        text.withUnsafeBytes { connection.dispatch($0, batch: nil, shard) }
      }
    }
  }

  private static var retryInterval: Duration { .milliseconds(200) }

  /// Writes a part of a message of the other node.
  public func linkReceived(
    _ part: UnsafeRawBufferPointer, of messageBytes: Int, isFirst: Bool, isLast: Bool,
    isolation shard: isolated Shard
  ) {
    guard linkState?.isOpen == true else { return }
    writer.write(part: part, of: messageBytes, isFirst: isFirst, isLast: isLast)
  }

  /// The link takes messages again.
  public func linkIsWritable(isolation shard: isolated Shard) {
    guard let number = linkState?.pause else { return }
    linkState?.pause = nil
    end(number, shard) { _, _ in }
    writer.act(.read)
  }

  /// The link has ended: the client is disconnected after it has received everything.
  ///
  /// - Parameters:
  ///   - restarts: True if the client should connect again immediately.
  ///   - shard: The shard of the connection.
  public func linkEnded(restarts: Bool, isolation shard: isolated Shard) {
    guard linkState?.isOpen == true else { return }
    linkIsWritable(isolation: shard)
    linkState = nil
    if restarts { output.serviceRestarts() }
    advance(.finish)
    writer.awaitTurnEnd()
  }

  /// True if the link may read.
  public var wantsLinkBytes: Bool { !writer.isCongested && !writer.isYielding }

  // MARK: Messages of the client

  /// Passes a message to the other node.
  func forward(_ message: UnsafeRawBufferPointer, _ state: LinkState) {
    cancelRequests(in: message)
    state.link.send(message)
    guard state.pause == nil, state.link.isCongested else { return }
    state.pause = begin(OffloadedRequest())
  }

  /// Responds to a frame that is not a message. If another node serves the client, its response is
  /// in order with the others.
  func fail(_ error: RPCError) {
    guard let linkState, linkState.isOpen else { return writer.fail(error) }
    var writer = JSONWriter()
    writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"node/fault\",\"params\":")
    error.write(to: &writer)
    writer.raw("}")
    writer.withBytes { forward($0, linkState) }
  }

  /// Closes the link without a response.
  func dropLink() {
    linkState?.link.close()
    linkState = nil
  }

  func endLinkInput() {
    if let linkState, linkState.isOpen { linkState.link.endInput() }
  }

  /// Reads from the link again, after the client has read.
  func resumeLink() {
    if let linkState, linkState.isOpen { linkState.link.resumeReading() }
  }
}
