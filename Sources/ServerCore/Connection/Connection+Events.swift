// SPDX-License-Identifier: Apache-2.0

public import Delivery
internal import Logging
public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
public import Wire

extension Connection {
  /// Something that has happened on the peer's side.
  public enum Event {
    /// Bytes came; they are valid during the call.
    case received(UnsafeRawBufferPointer)
    /// Something came that was told apart elsewhere, as over a WebSocket.
    case framed(FrameEvent)
    /// The peer will send nothing more. What it has asked for is still answered; then the
    /// connection closes.
    case inputEnded
    /// The server ends. What the peer has asked for is still answered, a frame that has not come
    /// whole is dropped; then the connection closes.
    case finish
    /// The server ends, but for others that have yet to be answered: nothing more is heard of the peer, which
    /// may look on at them until `finish`.
    case linger
    /// The peer has read what it was slow to read; what it has asked for meanwhile goes on.
    case caughtUp
    /// Others have been heard, for which the output was asked: what has waited meanwhile goes on.
    case othersServed
    /// Nobody will wait any longer: open answers become -32800, and the connection closes.
    case timeIsUp
    /// The peer is not served any more, and is told why; then the connection closes.
    case refused(Refusal)
    /// The tokens of the server have been replaced.
    case credentialsChanged
    /// Everything was sent, and the output has ended.
    case outputEnded
    /// The connection is to end now, with what has not been sent.
    case cut
    /// The peer is gone; nothing can be written any more.
    ///
    /// It leaves the session, so it must come last in every connection's life, a closed one's too.
    case disconnected
  }

  /// Takes what has happened.
  public func take(_ event: Event, isolation shard: isolated Shard) {
    carryOut(event, shard)
    if turnOutcome.entryBytes != nil { writer.countEntries() }
  }

  private func carryOut(_ event: Event, _ shard: isolated Shard) {
    switch event {
    case .received(let bytes):
      guard life.isOpen else { return }
      // The reader knows it too, but cannot be asked from inside its own call.
      if !isFramingKnown, let first = bytes.withoutLeadingWhiteSpace.first {
        isFramingKnown = true
        writer.framing = .stream(Framing(firstByte: first))
      }
      // As `frames.read`, whose closure would count one more reference to each of these per message.
      var rest = bytes
      while !rest.isEmpty {
        if let line = frames.takeLine(from: &rest) {
          take(.message(line), shard)
        } else {
          rest = frames.readPart(of: rest) { take($0, shard) }
        }
      }
      if !writer.mayKeep(partialBytes: frames.partialBytes) { frames.skipFrame() }
    case .framed(let event):
      guard life.isOpen else { return }
      take(event, shard)
    case .finish:
      advance(.finish)
    case .linger:
      advance(.linger)
    case .inputEnded:
      if life.isOpen { frames.finish { take($0, shard) } }
      advance(.inputEnded)
    case .outputEnded:
      advance(.outputEnded)
    case .cut:
      // A connection that is over may have bytes that wait for commits.
      if life.isOver, !writer.awaitsCommits { advance(.cut) } else { writer.cut() }
    case .caughtUp:
      writer.updateCongestion()
      writer.flush()
      resume(shard)
    case .othersServed:
      writer.othersServed()
      resume(shard)
      if !life.isOver { writer.act(.read) }
    case .timeIsUp:
      advance(.timeIsUp)
      endWait()
      resume(shard)
    case .refused(let refusal):
      refuse(refusal.error)
    case .credentialsChanged:
      credentialsChanged()
    case .disconnected:
      advance(.gone)
      writer.disconnected()
      backlog.removeAll()
      dropWaiting()
      _ = running.removeAll()
      participant.session.leave(participant, isolation: shard)
    }
  }

  /// Counts what a transport keeps of a frame that has begun.
  ///
  /// - Returns: False if all connections hold as much as they may: the frame is to be skipped, and the client is notified.
  public func mayKeep(partialBytes bytes: Int) -> Bool { writer.mayKeep(partialBytes: bytes) }

  /// True while the shard runs a turn or writes to outputs: what a transport has to say waits until that is over.
  public var isShardBusy: Bool { turnOutcome.isBusy }

  /// Whether bytes that come now are taken care of now; if not, they are better left unread.
  public var wantsBytes: Bool {
    life.readsInput && !writer.isHeldUp && !writer.isYielding && hasNoBacklog
  }

  /// True if the next bytes may end a frame that takes long to read.
  public var isInLargeFrame: Bool { writer.partialBytes > Self.largeFrameBytes }

  // A tenth of a millisecond.
  private static var largeFrameBytes: Int { 64 << 10 }

  /// Whether a frame has begun and not ended, and the peer could end it.
  public var isInFrame: Bool { wantsBytes && life.isOpen && frames.isInFrame }

  /// Whether nothing that the peer has asked for is being worked on, or waits.
  public var isAtRest: Bool {
    running.count == 0 && hasNoBacklog && !writer.isOffloading && !writer.awaitsCommits
  }

  /// Whether the peer has asked for something that it has yet to be answered, and reads.
  public var isAnswering: Bool {
    (running.openAnswers > 0 || !hasNoBacklog || writer.isOffloading || writer.awaitsCommits)
      && !isCongested
  }

  private var hasNoBacklog: Bool { backlog.isEmpty && batchRest == nil }

  /// Whether what comes next has to wait.
  private var mustWait: Bool { writer.isHeldUp || writer.isYielding || isWorkAwaited }

  private func take(_ event: FrameEvent, _ shard: isolated Shard) {
    guard !life.isOver else { return }
    // Faults wait their turn too: they must not overtake the answers to what came before.
    if mustWait || !hasNoBacklog {
      backlog.append(Arrival(event))
      awaitRest(shard)
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
      // What a dropped connection had been told before must not depend on what came together.
      writer.flush()
      turnOutcome.messageEnded(isolation: shard)
    case .tooLarge:
      writer.fail(
        RPCError(limit: .frameBytes, "a message has at most \(settings.limits.frameBytes) bytes"))
    case .unusableHeader(let fault):
      writer.fail(RPCError(.parseError, fault.description))
    case .foreign(let other):
      settings.logger.info(
        "a client that speaks another protocol was closed",
        metadata: ["protocol": "\(other.rawValue)"])
      // Its first byte may have looked like a header's.
      writer.framing = .stream(.lines)
      if other == .http {
        writer.write(unframed: ForeignProtocol.httpResponse)
      } else {
        writer.fail(RPCError(.parseError, other.description))
      }
    }
  }

  /// Whether a message has to wait until the work that earlier ones have set off rests; so it is
  /// in tests alone.
  private var isWorkAwaited: Bool { testing?.isBusy ?? false }

  /// Waits until the work is idle that a message has to wait for. Other waits end with `caughtUp` or `othersServed`, also
  /// for a client that does not read.
  private func awaitRest(_ shard: isolated Shard) {
    guard !isRestAwaited, !writer.isHeldUp, !writer.isYielding, let testing else { return }
    isRestAwaited = true
    testing.whenResting(self)
  }

  /// Releases everything that waits for a connection that is closed.
  func dropWaiting() {
    batchRest = nil
    offloaded = nil
  }

  /// Goes on with what has waited, as far as that need not wait any longer.
  func resume(_ shard: isolated Shard) {
    guard !life.isOver else { return }
    if !mustWait, let rest = batchRest {
      batchRest = nil
      goOn(with: rest, shard)
    }
    var next = 0
    while next < backlog.count, batchRest == nil, !mustWait, !life.isOver {
      switch backlog[next] {
      case .message(let bytes): bytes.withUnsafeBytes { carryOut(.message($0), shard) }
      case .tooLarge: carryOut(.tooLarge, shard)
      case .unusableHeader(let fault): carryOut(.unusableHeader(fault), shard)
      case .foreign(let other): carryOut(.foreign(other), shard)
      }
      next += 1
    }
    if next < backlog.count {
      backlog.removeFirst(next)
      awaitRest(shard)
    } else {
      backlog = []
    }
    writer.awaitTurnEnd()
  }

  /// Lets others be heard before this peer's next message, if this turn has gone on for long.
  func yieldIfLong() {
    // Under test what is told does not depend on how long it takes.
    guard !life.isOver, turnOutcome.isLong(at: settings.now()) else { return }
    writer.yieldToOthers()
  }

  /// The same after messages of a template, which learns how long they take.
  func yieldIfLong(adapting template: RequestTemplate) {
    guard !life.isOver else { return }
    let now = settings.now()
    if let time = turnOutcome.timeSinceLook(at: now) { template.pace.adapt(to: time) }
    if turnOutcome.isLong(at: now) { writer.yieldToOthers() }
  }

  /// Closes if nothing more can come and nothing is left to be answered.
  ///
  /// Only at the end of a turn: in its middle, more of what came may still wait to be carried out.
  private func closeIfDone() {
    guard life.isDraining else { return }
    let isDone = running.openAnswers == 0 && hasNoBacklog && offloaded == nil
    if isDone, writer.isEmpty { close() }
  }

  /// Closes once everything written has gone out; at once if the peer does not read.
  func close() {
    guard !life.isOver else { return }
    let isSent = writer.finish()
    dropWaiting()
    advance(isSent ? .done : .cut)
  }

  /// Advances the life of the connection, and lets the transport do what that asks for.
  func advance(_ event: ConnectionLife.Event) {
    let action = life.take(event)
    if life.isOver { writer.close() }
    if life.isDraining { writer.awaitTurnEnd() }
    switch action {
    case .expireLater: writer.act(.expireLater)
    // Else once everything has been delivered.
    case .endOutput: if !writer.awaitsCommits { writer.act(.endOutput) }
    case .awaitInputEnd: writer.act(.awaitInputEnd)
    case .close: writer.act(.close)
    case nil: break
    }
  }
}

extension Connection: ClientWriterDelegate {
  public func writerIsReady(_ shard: isolated Shard) {
    resume(shard)
    writer.act(.read)
  }

  public func writerFailed(_ failure: ClientWriter.Failure) {
    if failure == .tooManyBytes {
      settings.logger.warning("a client was closed for which too many bytes waited")
    }
    dropWaiting()
    advance(.cut)
  }

  public func evicted() { close() }

  public func turnEnded() {
    // What waits until the peer reads is still begun in its turn, and gets no time either.
    if life.isTimeUp {
      // What runs in a session that lives on goes on; only its answer has nowhere to go.
      let livesOn = participant.session.handle != nil
      for request in running.removeAll() {
        if livesOn { answerCancelled(request) } else { cancel(request) }
      }
    }
    writer.endTurn()
    closeIfDone()
  }
}

extension Connection: IdleObserver {
  public func rested(isolation shard: isolated Shard) {
    isRestAwaited = false
    guard !life.isOver else { return }
    resume(shard)
    writer.act(.read)
  }
}
