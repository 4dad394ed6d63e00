// SPDX-License-Identifier: Apache-2.0

internal import Logging
public import Sessions
internal import StatewireJSON
internal import StatewireProtocol

/// One conversation with one peer: bytes in, requests carried out in order, bytes out.
///
/// A connection knows nothing of sockets. It is told what came and writes to its output, once per
/// turn of the shard's loop. Whatever the peer sends costs no more than an error of its own.
public final class Connection {
  let settings: ServerSettings
  let session: Session

  private let turnEnd: TurnEnd
  private let testing: TestMode?
  private unowned let output: any ConnectionOutput
  private var frames: FrameReader
  private var framing: Framing?
  private var out = JSONWriter()
  private var message = JSONWriter()
  private var isTurnEndAwaited = false

  /// What this frontend holds on to, in the order of first use.
  var attachments: [Attachment] = []
  /// Requests whose effects have not ended, or whose answers are open.
  var running = RunningRequests()

  // What came while the peer did not read; never more than one chunk holds.
  private var backlog: [Arrival] = []
  private var isCongested = false
  private var isRestAwaited = false
  private var phase = Phase.open
  private var isTimeUp = false

  private enum Phase {
    case open
    /// Where the next frame would start is not known; what was asked for before is still answered.
    case unreadable
    /// The peer sends nothing more; what it has asked for is still answered.
    case inputEnded
    case closed
  }

  /// A `FrameEvent` that has to wait.
  private enum Arrival {
    case message([UInt8])
    case tooLarge
    case unusableHeader(HeaderFault)
  }

  /// A connection with a session of its own.
  public init(
    settings: ServerSettings, output: any ConnectionOutput, isolation shard: isolated Shard
  ) {
    self.settings = settings
    self.output = output
    turnEnd = shard.turnEnd
    session = Session(isolation: shard)
    testing = shard.testing
    frames = FrameReader(maximumFrameBytes: settings.limits.frameBytes)
  }
}

// MARK: - What the transport says

extension Connection {
  /// Something that has happened on the peer's side.
  public enum Event {
    /// Bytes came; they are valid during the call.
    case received(UnsafeRawBufferPointer)
    /// The peer will send nothing more. What it has asked for is still answered; then the
    /// connection closes.
    case inputEnded
    /// The server ends. What the peer has asked for is still answered, a frame that has not come
    /// whole is dropped; then the connection closes.
    case finish
    /// The peer has read what it was slow to read; what it has asked for meanwhile goes on.
    case caughtUp
    /// Nobody will wait any longer: open answers become -32800, and the connection closes.
    case timeIsUp
    /// The peer is gone; nothing can be written any more.
    ///
    /// It ends the session, so it must come last in every connection's life, a closed one's too.
    case disconnected
  }

  /// Takes what has happened.
  public func take(_ event: Event, isolation shard: isolated Shard) {
    switch event {
    case .received(let bytes):
      guard phase == .open else { return }
      // The reader knows it too, but cannot be asked from inside its own call.
      if framing == nil, let first = bytes.withoutLeadingWhiteSpace.first {
        framing = Framing(firstByte: first)
      }
      frames.read(bytes) { take($0, shard) }
    case .finish:
      guard phase == .open else { return }
      phase = .inputEnded
      awaitTurnEnd()
    case .inputEnded:
      guard phase == .open else { return }
      frames.finish { take($0, shard) }
      if phase == .open { phase = .inputEnded }
      awaitTurnEnd()
    case .caughtUp:
      isCongested = output.isCongested
      if !isCongested { resume(shard) }
    case .timeIsUp:
      guard phase != .closed else { return }
      if phase == .open { phase = .inputEnded }
      isTimeUp = true
      awaitTurnEnd()
    case .disconnected:
      phase = .closed
      backlog.removeAll()
      _ = running.removeAll()
      session.detach(attachments)
      attachments.removeAll()
      session.end(isolation: shard)
    }
  }

  /// Whether bytes that come now are taken care of now; if not, they are better left unread.
  public var wantsBytes: Bool {
    switch phase {
    case .open, .unreadable: !isCongested && backlog.isEmpty
    case .inputEnded, .closed: false
    }
  }

  private func take(_ event: FrameEvent, _ shard: isolated Shard) {
    guard phase != .closed else { return }
    // Faults wait their turn too: they must not overtake the answers to what came before.
    let mustWait = isCongested || !backlog.isEmpty || isWorkAwaited
    switch event {
    case .message(let bytes):
      if mustWait {
        backlog.append(.message(Array(bytes)))
        awaitRest(shard)
      } else {
        handle(bytes, shard)
        if let testing {
          testing.checkDrops()
          // What a dropped connection had been told before must not depend on what came together.
          flush()
        }
      }
    case .tooLarge:
      if mustWait { backlog.append(.tooLarge) } else { failTooLarge() }
    case .unusableHeader(let fault):
      if mustWait { backlog.append(.unusableHeader(fault)) } else { failUnreadable(fault) }
      phase = .unreadable
      awaitTurnEnd()
    }
  }

  /// Whether a message has to wait until the work that earlier ones have set off rests; so it is
  /// in tests alone.
  private var isWorkAwaited: Bool { testing?.isBusy ?? false }

  private func awaitRest(_ shard: isolated Shard) {
    guard !isRestAwaited, let testing else { return }
    isRestAwaited = true
    testing.whenResting(self)
  }

  /// Ends the connection at once, as if the network had.
  func drop() {
    guard phase != .closed else { return }
    phase = .closed
    output.abandon()
  }

  /// Goes on with what came while the peer did not read.
  private func resume(_ shard: isolated Shard) {
    let waiting = backlog
    backlog.removeAll()
    for arrival in waiting {
      switch arrival {
      case .message(let bytes): bytes.withUnsafeBytes { take(.message($0), shard) }
      case .tooLarge: take(.tooLarge(declaredBytes: nil), shard)
      case .unusableHeader(let fault): take(.unusableHeader(fault), shard)
      }
    }
    awaitTurnEnd()
  }

  private func failTooLarge() {
    fail(
      RPCError(limit: "frameBytes", "a message has at most \(settings.limits.frameBytes) bytes"))
  }

  private func failUnreadable(_ fault: HeaderFault) {
    fail(RPCError(.parseError, fault.description))
  }

  /// Closes if nothing more can come and nothing is left to be answered.
  ///
  /// Only at the end of a turn: in its middle, more of what came may still wait to be carried out.
  private func closeIfDone() {
    switch phase {
    case .open, .closed: return
    case .unreadable, .inputEnded:
      if running.openAnswers == 0, backlog.isEmpty { close() }
    }
  }

  private func close() {
    guard phase != .closed else { return }
    flush()
    phase = .closed
    output.close()
  }
}

// MARK: - Writing

extension Connection {
  // A turn that writes more than this sends it before it goes on.
  private static var flushBytes: Int { 256 << 10 }

  /// Writes one frame.
  func write(_ body: (inout JSONWriter) -> Void) {
    guard phase != .closed else { return }
    if framing == .headers {
      message.removeAll()
      body(&message)
      message.withBytes { message in
        FrameWriter(framing: .headers).write(message) { out.raw($0) }
      }
      message.removeAll(keepingCapacity: message.count <= Self.flushBytes)
    } else {
      body(&out)
      out.raw(byte: UInt8(ascii: "\n"))
    }
    if out.count > Self.flushBytes { flush() }
    awaitTurnEnd()
  }

  private func awaitTurnEnd() {
    guard !isTurnEndAwaited else { return }
    isTurnEndAwaited = true
    turnEnd.add(self)
  }

  /// Answers a request that has no message any more.
  func reply(to address: ReplyAddress, _ body: (inout JSONWriter) -> Void) {
    address.id.text.withUnsafeBytes { write(id: $0, batch: address.batch, body) }
    if let batch = address.batch { finish(batch) }
  }

  /// Answers a request in hand, if it wants an answer.
  ///
  /// - Parameter body: Writes the members of the result.
  func reply(to request: Request, _ body: (inout JSONWriter) -> Void) {
    guard let id = request.id else { return }
    write(id: id, batch: request.batch) { writer in
      writer.raw(",\"result\":")
      writer.beginObject()
      body(&writer)
      writer.endObject()
      writer.raw(byte: UInt8(ascii: "}"))
    }
  }

  /// Answers a request in hand with an error, if it wants an answer.
  func reply(to request: Request, error: RPCError) {
    guard let id = request.id else { return }
    write(id: id, batch: request.batch) { Self.write(error, to: &$0) }
  }

  /// Answers something that is no request, with the id null.
  func fail(_ error: RPCError, batch: Batch? = nil) {
    let null: StaticString = "null"
    null.withUTF8Buffer {
      write(id: UnsafeRawBufferPointer($0), batch: batch) { Self.write(error, to: &$0) }
    }
  }

  /// One more part of a batch is done; after the last one the answers are sent.
  func finish(_ batch: Batch) {
    batch.open -= 1
    guard batch.open == 0, !batch.isEmpty else { return }
    write { writer in
      writer.raw(byte: UInt8(ascii: "["))
      batch.answers.withBytes { writer.raw($0) }
      writer.raw(byte: UInt8(ascii: "]"))
    }
  }

  /// Writes everything behind the id of an error answer.
  static func write(_ error: RPCError, to writer: inout JSONWriter) {
    writer.raw(",\"error\":")
    error.write(to: &writer)
    writer.raw(byte: UInt8(ascii: "}"))
  }

  private func write(
    id: UnsafeRawBufferPointer, batch: Batch?, _ body: (inout JSONWriter) -> Void
  ) {
    func write(_ writer: inout JSONWriter) {
      writer.raw("{\"jsonrpc\":\"2.0\",\"id\":")
      writer.raw(id)
      body(&writer)
    }
    if let batch {
      if !batch.isEmpty { batch.answers.raw(byte: UInt8(ascii: ",")) }
      write(&batch.answers)
    } else {
      self.write(write)
    }
  }

  private func flush() {
    guard out.count > 0, phase != .closed else { return }
    // Out of reach first: what the output does with it can lead back here.
    var bytes = JSONWriter()
    swap(&bytes, &out)
    // Looked at before, so that one large state for a peer that does read is no fault of its.
    let isOverfull = output.waitingBytes > settings.limits.outboxBytes
    bytes.withBytes { output.write($0) }
    // A buffer that one large answer has blown up is given back.
    if out.count == 0, bytes.count <= Self.flushBytes {
      bytes.removeAll()
      swap(&bytes, &out)
    }
    isCongested = output.isCongested
    if isOverfull {
      settings.logger.warning("a peer that does not read was closed")
      phase = .closed
      output.abandon()
    }
  }
}

extension Connection: TurnEndObserver {
  public func turnEnded() {
    // What waits until the peer reads is still begun in its turn, and gets no time either.
    if isTimeUp {
      for request in running.removeAll() { cancel(request) }
    }
    isTurnEndAwaited = false
    flush()
    closeIfDone()
  }
}

extension Connection: RestObserver {
  public func rested(isolation shard: isolated Shard) {
    isRestAwaited = false
    guard phase != .closed else { return }
    if !isCongested { resume(shard) }
    output.wantsBytesAgain()
  }
}

// MARK: - What the session says

extension Connection: Frontend {
  public func storeChanged(_ frame: borrowing ChangedFrame) {
    let members = frame.members
    let applied = frame.applied
    notify(StoreChanged.method) { writer in
      writer.raw(members)
      writer.raw(",\"applied\":")
      if applied.isEmpty { writer.raw("null") } else { writer.raw(applied) }
    }
  }

  public func storeEvent(_ store: String, _ event: UnsafeRawBufferPointer) {
    notify(StoreEvent.method) { writer in
      writer.raw("\"store\":")
      writer.value(store)
      writer.raw(",\"event\":")
      writer.raw(event)
    }
  }

  public func storeClosed(_ store: String, reason: ClosedReason) {
    notify(StoreClosed.method) { writer in
      writer.raw("\"store\":")
      writer.value(store)
      writer.raw(",\"reason\":")
      writer.value(reason.rawValue)
    }
  }

  /// Writes a notification.
  /// - Parameter body: Writes the members of its parameters.
  func notify(_ method: StaticString, _ body: (inout JSONWriter) -> Void) {
    write { writer in
      writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"")
      writer.raw(method)
      writer.raw("\",\"params\":{")
      body(&writer)
      writer.raw("}}")
    }
  }
}
