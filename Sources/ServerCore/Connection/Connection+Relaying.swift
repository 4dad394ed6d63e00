// SPDX-License-Identifier: Apache-2.0

internal import Delivery
public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
public import Wire

// A client that attaches to a session of another shard:
//
//     connection of the client           connection on the other shard
//     ------------------------           -----------------------------
//     relay(request)            ------>  carryOut: attaches, holds its output
//     relayRefused              <------  error: it ends
//     relayAccepted             <------  success
//     leaves its session, sends
//     everything, then handOver ------>  take(handover): continues with the client's input

// MARK: - The connection of the client

extension Connection {
  /// Passes a request to attach to another shard; the client's next messages wait for the result.
  ///
  /// - Throws: `RPCError` -32800 if the time of the connection's requests is over.
  func relay(_ request: Request, to shard: Int) throws(RPCError) {
    if life.isTimeUp { throw RPCError(.requestCancelled, "cancelled") }
    let number = begin(OffloadedRequest(request), endsWithTime: true)
    output.relay(
      RelayRequest(
        number: number, text: Array(request.text), isInBatch: request.batch != nil,
        framing: writer.framing, identity: identity, wrongTokens: wrongTokens,
        messageCount: messageCount, inputs: inputs?.state, nodeClient: nodeClient),
      to: shard)
  }

  /// Responds to a relayed request with the error of the other shard; the client keeps its session.
  public func relayRefused(
    _ number: UInt32, _ refusal: RelayRefusal, isolation shard: isolated Shard
  ) {
    end(number, shard) { connection, request in
      if let (node, text) = refusal.elsewhere, !connection.isNodeLink {
        do throws(RPCError) {
          return try connection.link(request, text, to: node)
        } catch {
          return connection.continue(request, { _, _ throws(RPCError) in throw error }, shard)
        }
      }
      connection.continue(request, { _, _ throws(RPCError) in throw refusal.error }, shard)
    }
  }

  /// Leaves the session, because the client has attached to one of another shard.
  ///
  /// After everything was sent, the output gets `handOver`.
  ///
  /// - Returns: False if the client is no longer served.
  public func relayAccepted(_ number: UInt32, isolation shard: isolated Shard) -> Bool {
    guard offloaded?.number == number, !life.isOver else { return false }
    _ = reportRelayed(nil)
    // The request stays the offloaded one, so that the next messages wait.
    offloaded?.endsWithTime = false
    let (state, delegate) = (RelayState(), LeavingDelegate(self))
    state.leaving = delegate
    relayState = state
    writer.delegate = delegate
    participant.session.leave(participant, isolation: shard)
    writer.willLeaveSession()
    writer.awaitTurnEnd()
    return true
  }

  /// Asks the output to replace this connection, if everything was sent.
  ///
  /// - Returns: False if something must still be sent, or is not committed, or the client is refused.
  func leaveIfDone() -> Bool {
    guard !life.isOver, !life.isRefused else { return false }
    if writer.awaitsCommits || writer.awaitsFormerSessionCommits {
      turnOutcome.awaitCommit(self)
      return false
    }
    guard writer.isEmpty else { return false }
    writer.act(.handOver)
    return true
  }

  /// Removes and returns the input that was not carried out.
  public func takeHandover() -> RelayHandover {
    let batch = offloaded?.batch
    let handover = RelayHandover(
      frames: frames, isFramingKnown: isFramingKnown, backlog: backlog,
      responses: batch?.takeResponses() ?? [],
      rest: waitingBatch?.requests, life: life.history)
    // Responses to earlier requests of the batch that still wait for effects come as a batch of
    // their own.
    if offloaded?.id != nil { batch?.open -= 1 }
    if waitingBatch != nil { batch?.open -= 1 }
    backlog = []
    dropWaiting()
    writer.offloadEnded()
    writer.delegate = self
    relayState = nil
    return handover
  }

  /// True if effects of earlier requests run whose responses go to the client.
  public var hasRunningRequests: Bool { running.count > 0 }

  /// Closes the connection after this turn if it has waited for the responses of earlier ones.
  public func earlierResponded() { writer.awaitTurnEnd() }

  /// Passes everything that is written from now on to another output, which then owns the
  /// connection. The present connection reports its end to a node.
  public func write(to output: any ConnectionOutput) {
    self.output = output
    nodeClient = nil
    writer.write(to: output)
  }

  /// Cancels the effects of the latest request with an id, as `$/cancelRequest` does.
  public func cancel(requestID: RequestID) {
    if let (request, address) = running.cancelLatest(requestID) {
      cancel(request, respondingTo: address)
    }
  }
}

extension Connection: CommitObserver {
  /// Continues to leave after a commit.
  public func committed(_ result: CommitResult, isolation shard: isolated Shard) {
    // The client may have gone. Then nothing retains the connection until the end of this turn.
    guard !life.isOver else { return }
    writer.awaitTurnEnd()
  }
}

// MARK: - The connection on the other shard

extension Connection {
  /// Carries out the request of a client whose connection is on another shard.
  ///
  /// - Parameters:
  ///   - request: The request, the first one of this connection.
  ///   - shard: The shard of the session.
  ///   - outcome: Called in a turn: with nil if the client has attached, or with the reason, after
  ///     which the connection must end.
  public func carryOut(
    _ request: RelayRequest, isolation shard: isolated Shard,
    outcome: @escaping (RelayRefusal?) -> Void
  ) {
    let state = RelayState()
    state.outcome = outcome
    state.batch = request.isInBatch ? Batch() : nil
    relayState = state
    writer.framing = request.framing
    wrongTokens = request.wrongTokens
    nodeClient = request.nodeClient
    messageCount = request.messageCount
    if let left = request.inputs { inputs?.state = left }
    if let owner = request.identity {
      writer.belong(to: owner.name, common.buffers.account(of: owner.name))
    }
    request.text.withUnsafeBytes { dispatch($0, batch: state.batch, shard) }
  }

  /// Reports the result of a relayed request, once.
  ///
  /// - Returns: False if this connection has not been given one.
  func reportRelayed(_ error: RPCError?) -> Bool {
    guard let outcome = relayState?.outcome else { return false }
    relayState?.outcome = nil
    outcome(error.map { RelayRefusal(error: $0) })
    return true
  }

  /// Reports that another node serves the session of a relayed request.
  ///
  /// - Returns: False if this connection has not been given one.
  func reportOtherNode(_ node: ClusterNode, _ text: [UInt8]) -> Bool {
    guard let outcome = relayState?.outcome else { return false }
    relayState?.outcome = nil
    outcome(RelayRefusal(error: Self.hasMoved, elsewhere: (node, text)))
    return true
  }

  /// Continues with the input that the connection of the client has not carried out.
  public func take(_ handover: RelayHandover, isolation shard: isolated Shard) {
    let batch = relayState?.batch
    relayState = nil
    frames = handover.frames
    isFramingKnown = handover.isFramingKnown
    batch?.prepend(handover.responses)
    // A client that was evicted meanwhile has no more input.
    let rest = life.isOpen ? handover.rest : nil
    if let batch {
      if let rest {
        waitingBatch = WaitingBatch(requests: rest, batch: batch)
      } else {
        writer.finish(batch)
      }
    }
    if life.isOpen { backlog = handover.backlog }
    for event in handover.life { advance(event) }
    carryOut(.caughtUp, shard)
  }

  /// Takes a frame that arrived on another loop, in a turn.
  public func take(_ arrival: Arrival, isolation shard: isolated Shard) {
    arrival.withEvent { take(.framed($0), isolation: shard) }
  }

  /// Writes whole messages of an earlier connection of the client.
  public func write(messages bytes: [UInt8], isolation shard: isolated Shard) {
    writer.write(unframed: bytes)
  }
}

extension ConnectionLife {
  /// The events that lead from `open` to this state; none for a connection that is over.
  var history: [Event] {
    switch self {
    case .open: []
    case .closing: []
    case .closed: []
    case .lingering(let input): input == .ended ? [.linger, .inputEnded] : [.linger]
    case .draining(let draining):
      (draining.discardsInput ? [.unreadable] : [])
        + (draining.input == .ended ? [.inputEnded] : [.finish])
        + (draining.isRefused ? [.refused] : draining.isTimeUp ? [.timeIsUp] : [])
    }
  }
}
