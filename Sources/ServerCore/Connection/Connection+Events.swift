// SPDX-License-Identifier: Apache-2.0

public import Delivery
internal import Logging
public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
public import Wire

extension Connection {
  /// An event of the transport.
  public enum Event {
    /// Bytes arrived; they are valid during the call.
    case received(UnsafeRawBufferPointer)
    /// A frame arrived that the transport has already separated, for example over a WebSocket.
    case framed(FrameEvent)
    /// The client sends nothing more. Open requests get their responses; then the connection
    /// closes.
    case inputEnded
    /// The server ends. Open requests get their responses, an incomplete frame is dropped; then the
    /// connection closes.
    case finish
    /// The server ends after it has responded to other clients. Messages of this client are
    /// ignored; it still receives updates until `finish`.
    case linger
    /// The client has read the output that it was slow to read; its waiting messages continue.
    case caughtUp
    /// The transport has served other clients, as the output was asked to; waiting messages
    /// continue.
    case othersServed
    /// The time limit is over: open requests get the error -32800, and the connection closes.
    case timeIsUp
    /// The client is refused: it receives the error of the refusal, and the connection closes.
    case refused(Refusal)
    /// The tokens of the server were replaced.
    case credentialsChanged
    /// The session database has not responded for too long: requests that wait get the error
    /// -32800, and the connection closes.
    ///
    /// - Parameter isLong: True if it is so long that also the node of another session, to which the
    ///   client is relayed, has reported it.
    case databaseIsGone(isLong: Bool)
    /// Everything was sent and the output has ended.
    case outputEnded
    /// The connection ends immediately; unsent bytes are lost.
    case cut
    /// The client is gone; nothing more can be written.
    ///
    /// The client leaves its session. This must be the last event of every connection, even of a
    /// closed one.
    case disconnected
  }

  /// Processes an event of the transport.
  ///
  /// - Precondition: The shard runs a turn.
  public func take(_ event: Event, isolation shard: isolated Shard) {
    carryOut(event, shard)
    if turnOutcome.entryBytes != nil { writer.countEntries() }
  }

  func carryOut(_ event: Event, _ shard: isolated Shard) {
    switch event {
    case .received(let bytes):
      guard life.isOpen else { return }
      // The reader also finds the framing, but must not be accessed from inside its own call.
      if !isFramingKnown, let first = bytes.withoutLeadingWhiteSpace.first {
        isFramingKnown = true
        writer.framing = .stream(Framing(firstByte: first))
      }
      // Equivalent to `frames.read`, whose closure costs reference counting for each message.
      var rest = bytes
      while !rest.isEmpty {
        if let line = frames.takeLine(from: &rest) {
          take(.message(line), shard)
        } else {
          rest = frames.readPart(of: rest) { take($0, shard) }
        }
      }
      if !writer.canBuffer(partialBytes: frames.partialBytes) { frames.skipFrame() }
    case .framed(let event):
      guard life.isOpen else { return }
      take(event, shard)
    case .finish:
      serverEnds = true
      if isNodeLink, life.isOpen { writeControl(.ends) }
      advance(.finish)
    case .linger:
      advance(.linger)
    case .inputEnded:
      if life.isOpen { frames.finish { take($0, shard) } }
      advance(.inputEnded)
    case .databaseIsGone(let isLong):
      if linkState?.isOpen != true || isLong { becomeUnavailable() }
    case .outputEnded:
      advance(.outputEnded)
    case .cut:
      // Bytes of a connection that is over may still wait for commits.
      if life.isOver, !writer.awaitsCommits { advance(.cut) } else { writer.disconnect() }
    case .caughtUp:
      writer.updateCongestion()
      writer.flush()
      resume(shard)
      resumeLink()
    case .othersServed:
      writer.othersServed()
      resume(shard)
      resumeLink()
      if !life.isOver { writer.act(.read) }
    case .timeIsUp:
      advance(.timeIsUp)
      endWait()
      cancelOverdue()
      resume(shard)
    case .refused(let refusal):
      refuse(refusal.error, shard)
    case .credentialsChanged:
      credentialsChanged(shard)
    case .disconnected:
      dropLink()
      advance(.gone)
      writer.disconnected()
      backlog.removeAll()
      dropWaiting()
      _ = running.removeAll()
      deferred = []
      participant.session.leave(participant, isolation: shard)
    }
  }

  /// Counts the bytes that the transport holds of an incomplete frame.
  ///
  /// - Returns: False if the buffers of all connections are full: the transport must skip the
  ///   frame, and the client receives an error.
  public func canBuffer(partialBytes bytes: Int) -> Bool { writer.canBuffer(partialBytes: bytes) }

  /// True while the shard runs a turn or writes to outputs; events of a transport wait until then.
  public var isShardBusy: Bool { turnOutcome.isBusy }

  /// True if the connection processes new bytes immediately; if not, the transport leaves them
  /// unread.
  public var wantsBytes: Bool {
    life.readsInput && !writer.isBlocked && !writer.isYielding && hasNoBacklog
  }

  /// True if the next bytes may end a frame that takes long to read.
  public var isInLargeFrame: Bool { writer.partialBytes > Self.largeFrameBytes }

  // Reading so many bytes takes about 0.1 ms.
  private static var largeFrameBytes: Int { 64 << 10 }

  /// True if a frame has begun and not ended, and the connection reads, so that the client can end
  /// it.
  public var isInFrame: Bool { wantsBytes && life.isOpen && frames.isInFrame }

  /// True if no request of the client is in progress or waits.
  public var isIdle: Bool {
    running.count == 0 && hasNoBacklog && !writer.isOffloading && !writer.awaitsCommits
      && linkState?.isOpen != true && !output.awaitsEarlier
  }

  /// True while the client waits for a response, and reads.
  public var hasOpenResponses: Bool {
    (owesResponses || !hasNoBacklog || output.awaitsEarlier) && !isCongested
  }

  /// True if requests that were begun have open responses, or responses wait to be written.
  public var owesResponses: Bool {
    running.openResponses > 0 || !deferred.isEmpty || writer.isOffloading
      || writer.awaitsCommits
  }

  /// True if bytes for the client wait for a commit.
  public var awaitsCommits: Bool { writer.awaitsCommits }

  /// True if messages have not been passed to the output.
  public var hasUnsentMessages: Bool { !writer.isDelivered }

  private var hasNoBacklog: Bool { backlog.isEmpty && waitingBatch == nil }

  /// True if the next message must wait.
  private var mustWait: Bool { writer.isBlocked || writer.isYielding || isWorkAwaited }

  private func take(_ event: FrameEvent, _ shard: isolated Shard) {
    guard !life.isOver else { return }
    // Faults also wait: their errors must not overtake the responses to earlier messages.
    if mustWait || !hasNoBacklog {
      backlog.append(Arrival(event))
      awaitIdle(shard)
    } else {
      carryOut(event, shard)
    }
    switch event {
    case .message, .tooLarge: break
    case .unusableHeader, .foreign:
      advance(.unreadable)
    }
  }

  private func carryOut(_ event: FrameEvent, _ shard: isolated Shard) {
    if hasExited { return }
    switch event {
    case .message(let bytes):
      messageCount &+= 1
      handle(bytes, shard)
      guard let testing else {
        writer.messageEnded()
        return
      }
      testing.checkDrops()
      // The bytes that a dropped client has received must not depend on which messages arrived
      // together.
      writer.flush()
      turnOutcome.messageEnded(isolation: shard)
    case .tooLarge:
      fail(
        RPCError(limit: .frameBytes, "a message has at most \(settings.limits.frameBytes) bytes"))
    case .unusableHeader(let fault):
      fail(RPCError(.parseError, fault.description))
    case .foreign(let other):
      settings.logger.info(
        "closing a client that uses another protocol",
        metadata: logMetadata(["protocol": "\(other.rawValue)"]))
      // Its first byte may have selected framing by headers.
      writer.framing = .stream(.lines)
      if other == .http {
        writer.write(unframed: ForeignProtocol.httpResponse)
      } else {
        writer.fail(RPCError(.parseError, other.description))
      }
    }
  }

  /// True while a message must wait until the effects of earlier messages have settled; only under
  /// test, and only until the server ends and their time is over.
  private var isWorkAwaited: Bool { !(serverEnds && life.isTimeUp) && testing?.isBusy ?? false }

  /// Continues the connection once all work is idle, if that is what its messages wait for. Other
  /// waits end with `caughtUp` or `othersServed`, even for a client that does not read.
  private func awaitIdle(_ shard: isolated Shard) {
    if !writer.isBlocked, !writer.isYielding { testing?.whenIdle(self) }
  }

  /// Drops the rest of a batch and the offloaded request, when the connection closes.
  func dropWaiting() {
    waitingBatch = nil
    offloaded = nil
  }

  /// Continues with waiting messages, in order, until one must wait again.
  func resume(_ shard: isolated Shard) {
    guard !life.isOver else { return }
    if !mustWait, let rest = waitingBatch {
      waitingBatch = nil
      continueBatch(with: rest, shard)
    }
    var next = 0
    while next < backlog.count, waitingBatch == nil, !mustWait, !life.isOver {
      backlog[next].withEvent { carryOut($0, shard) }
      next += 1
    }
    if next < backlog.count {
      backlog.removeFirst(next)
      awaitIdle(shard)
    } else {
      backlog = []
    }
    writer.awaitTurnEnd()
  }

  /// Serves other clients before this client's next message, if this turn has taken long.
  func yieldIfLong() {
    // Under test `yieldToOthers` does nothing: output must not depend on time.
    guard !life.isOver, turnOutcome.isLong(at: settings.now()) else { return }
    writer.yieldToOthers()
  }

  /// Serves other clients before this client's next message, if this turn has taken long. Called
  /// after messages of a template; adapts how often the template reads the clock.
  func yieldIfLong(adapting template: RequestTemplate) {
    guard !life.isOver else { return }
    let now = settings.now()
    if let time = turnOutcome.timeSinceLastCall(at: now) { template.pace.adapt(to: time) }
    if turnOutcome.isLong(at: now) { writer.yieldToOthers() }
  }

  /// Closes a draining connection once all responses were written and delivered.
  ///
  /// Called only at the end of a turn: within it, received messages may still have to be carried
  /// out.
  private func closeIfDone() {
    guard life.isDraining else { return }
    let isDone =
      running.openResponses == 0 && deferred.isEmpty && hasNoBacklog && offloaded == nil
      && linkState?.isOpen != true && !output.awaitsEarlier
    if isDone, writer.isEmpty { close() }
  }

  /// Closes after all output was handed over.
  func close() {
    guard !life.isOver else { return }
    if isNodeLink { writeControl(.closes) }
    writer.finish()
    dropWaiting()
    advance(.done)
  }

  /// Applies an event to the life of the connection, and passes the action to the transport.
  func advance(_ event: ConnectionLife.Event) {
    let action = life.take(event)
    if life.isOver { writer.close() }
    if life.isDraining {
      writer.awaitTurnEnd()
      endLinkInput()
    }
    switch action {
    case .expireLater: writer.act(.expireLater)
    // Otherwise the writer ends the output after the last commit.
    case .endOutput: if !writer.awaitsCommits { writer.act(.endOutput) }
    case .awaitInputEnd: writer.act(.awaitInputEnd)
    case .close: writer.act(.close)
    case nil: break
    }
  }
}

extension Connection: ClientWriterDelegate {
  /// Continues with waiting messages, and reads again.
  public func writerIsReady(_ shard: isolated Shard) {
    resume(shard)
    resumeLink()
    writer.act(.read)
  }

  /// Ends the connection immediately.
  public func writerFailed(_ failure: ClientWriter.Failure) {
    if failure == .tooManyBytes {
      settings.logger.warning(
        "closing a slow consumer: too many bytes wait for the client", metadata: logMetadata())
    }
    dropWaiting()
    advance(.cut)
  }

  /// Drops the open requests, because the session is lost, and closes once the client has read what was
  /// written.
  public func evicted() {
    (backlog, deferred) = ([], [])
    dropWaiting()
    writer.offloadEnded()
    _ = running.removeAll()
    advance(.timeIsUp)
  }

  /// Cancels requests whose time is over, sends the output of the turn, and closes if all is done.
  public func turnEnded() {
    cancelOverdue()
    writer.endTurn()
    closeIfDone()
  }

  /// Cancels the running requests if their time is over; also at later turns: waiting messages are still
  /// carried out, and get no time either.
  func cancelOverdue() {
    guard life.isTimeUp else { return }
    output.expireEarlier()
    for request in deferred { respondCancelled(to: request.address) }
    deferred = []
    // In a session with a handle the effects continue; only their responses are cancelled.
    let livesOn = participant.session.handle != nil
    for (request, address) in running.removeAll() {
      if livesOn { respondCancelled(to: address) } else { cancel(request, respondingTo: address) }
    }
  }
}

extension Connection: IdleObserver {
  /// Continues with waiting messages, now that all work is idle.
  public func becameIdle(isolation shard: isolated Shard) {
    guard !life.isOver else { return }
    resume(shard)
    writer.act(.read)
  }
}
