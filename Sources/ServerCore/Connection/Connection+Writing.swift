// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

extension Connection {
  // A turn that writes more than this sends it before it goes on.
  static var flushBytes: Int { 256 << 10 }
  // As much as a peer gets for a few dozen inputs; it is given back when it has been sent.
  static var maximumUsualBytes: Int { 32 << 10 }

  /// Writes one frame.
  func write(_ body: (inout JSONWriter) -> Void) {
    guard !life.isOver else { return }
    let start = nextFrame()
    body(&out)
    endFrame(from: start)
  }

  /// Writes something that is not a frame.
  func write(unframed bytes: [UInt8]) {
    guard !life.isOver else { return }
    _ = nextFrame()
    out.raw(bytes)
    awaitTurnEnd()
  }

  /// Where the next frame begins.
  private func nextFrame() -> Int {
    endFollowing()
    if out.count == 0, !isHeldUp { out.reserve(likeLastTime: Int(usualBytes)) }
    return out.count
  }

  /// Frames what has been written since.
  private func endFrame(from start: Int) {
    Self.frame(framing, isWebSocket: isWebSocket, in: &out, from: start)
    // What is written down first is whole only between messages.
    if out.count > Self.flushBytes, outbox.isEmpty, !turnEnd.isRecorded { flush() }
    awaitTurnEnd()
  }

  /// Frames what `body` writes.
  static func frame(
    _ framing: Framing?, isWebSocket: Bool, into writer: inout JSONWriter,
    _ body: (inout JSONWriter) -> Void
  ) {
    let start = writer.count
    body(&writer)
    frame(framing, isWebSocket: isWebSocket, in: &writer, from: start)
  }

  /// Frames what has been written from some place on.
  @inline(__always)
  private static func frame(
    _ framing: Framing?, isWebSocket: Bool, in writer: inout JSONWriter, from start: Int
  ) {
    if isWebSocket {
      WebSocketHead(.text, payloadBytes: writer.count - start).withBytes {
        writer.insert($0, at: start)
      }
    } else if framing == .headers {
      FrameWriter.withHeaders(messageBytes: writer.count - start) { writer.insert($0, at: start) }
    } else {
      writer.raw(byte: UInt8(ascii: "\n"))
    }
  }

  func awaitTurnEnd() {
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
    write(id: id, batch: request.batch) { Self.result(body, to: &$0) }
  }

  /// Answers a request in hand with null, if it wants an answer.
  func replyNull(to request: Request) {
    guard let id = request.id else { return }
    write(id: id, batch: request.batch) { $0.raw(",\"result\":null}") }
  }

  /// Answers a request in hand whose input has been accepted, if it wants an answer.
  ///
  /// The answer that goes out most; in one piece where it is no part of a batch.
  func reply(to request: Request, revision: Revision, changed: Bool) {
    guard let id = request.id else { return }
    guard request.batch == nil else {
      return reply(to: request) { Self.write(revision: revision, changed: changed, to: &$0) }
    }
    guard !life.isOver else { return }
    let start = nextFrame()
    out.raw("{\"jsonrpc\":\"2.0\",\"id\":")
    out.raw(id)
    out.raw(",\"result\":{")
    Self.write(revision: revision, changed: changed, to: &out)
    out.raw("}}")
    endFrame(from: start)
  }

  /// Writes the members of the result for an accepted input.
  @inline(__always)
  static func write(revision: Revision, changed: Bool, to writer: inout JSONWriter) {
    writer.raw("\"revision\":")
    writer.value(revision)
    if changed { writer.raw(",\"changed\":true") } else { writer.raw(",\"changed\":false") }
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
    batch.answers.raw(byte: UInt8(ascii: "]"))
    // Before they are written: they would count twice.
    batch.account = nil
    if let pieces = batch.takePieces() { return write(pieces) }
    write { writer in batch.answers.withBytes { writer.raw($0) } }
    batch.answers.removeAll(keepingCapacity: false)
  }

  /// Writes one frame, which is in several pieces that are not copied.
  private func write(_ pieces: [[UInt8]]) {
    guard !life.isOver else { return }
    guard !isWebSocket else {
      return write { writer in for piece in pieces { writer.raw(piece) } }
    }
    var pieces = pieces
    if framing == .headers {
      let messageBytes = pieces.reduce(0) { $0 + $1.count }
      FrameWriter.withHeaders(messageBytes: messageBytes) { pieces.insert(Array($0), at: 0) }
    } else {
      pieces.append([UInt8(ascii: "\n")])
    }
    putOff(.bytes(pieces[0]))
    for piece in pieces.dropFirst() { outbox.add(.rest(piece)) }
  }

  /// Writes everything behind the id of an error answer.
  static func write(_ error: RPCError, to writer: inout JSONWriter) {
    writer.raw(",\"error\":")
    error.write(to: &writer)
    writer.raw(byte: UInt8(ascii: "}"))
  }

  /// Writes a result behind the id of its answer.
  static func result<Failure>(
    _ body: (inout JSONWriter) throws(Failure) -> Void, to writer: inout JSONWriter
  ) throws(Failure) {
    writer.raw(",\"result\":")
    writer.beginObject()
    try body(&writer)
    writer.endObject()
    writer.raw(byte: UInt8(ascii: "}"))
  }

  /// Writes an answer.
  static func answer<Failure>(
    _ id: UnsafeRawBufferPointer, _ body: (inout JSONWriter) throws(Failure) -> Void,
    to writer: inout JSONWriter
  ) throws(Failure) {
    writer.raw("{\"jsonrpc\":\"2.0\",\"id\":")
    writer.raw(id)
    try body(&writer)
  }

  /// Writes an error that is no answer to a request.
  static func answerToNobody(_ error: RPCError, to writer: inout JSONWriter) {
    let null: StaticString = "null"
    null.withUTF8Buffer {
      answer(UnsafeRawBufferPointer($0), { write(error, to: &$0) }, to: &writer)
    }
  }

  private func write(
    id: UnsafeRawBufferPointer, batch: Batch?, _ body: (inout JSONWriter) -> Void
  ) {
    write(batch: batch) { Self.answer(id, body, to: &$0) }
  }

  /// Writes an answer, which is a frame unless it belongs to a batch.
  func write(batch: Batch?, _ answer: (inout JSONWriter) -> Void) {
    guard let batch else { return write(answer) }
    batch.beginAnswer()
    answer(&batch.answers)
  }

  /// Sends what can be sent; what the peer would not read waits.
  ///
  /// Only between messages can stores' changes that have waited be sent: they are what is now.
  ///
  /// - Parameter isClosing: True if nothing is written after it.
  func flush(isClosing: Bool = false) {
    guard !life.isOver else { return endFollowing() }
    // What waits for the journal, or for the end of the turn, is still sent.
    if isClosing { isCongested = output.isCongested }
    // A client must not see a state that is not in the journal: it returns to the one that is.
    guard !isLost, turnEnd.complete(member.session) else { return drop() }
    // Nothing else is to go out, which is the rule for who looks on: so nothing is copied for it.
    if !following.isEmpty, out.count == 0, outbox.isEmpty, !isCongested, flushFollowed() { return }
    endFollowing()
    // In pieces too, so that a frame of many megabytes is not copied as a whole.
    if out.count - readyBytes > Self.largeBytes {
      handOut()
      outbox.add(.bytes(out.bytes()))
      out.removeAll(keepingCapacity: false)
    }
    if !outbox.isEmpty { sendWaiting(all: isClosing || testing != nil) }
    if isCongested || !outbox.isEmpty { return closeIfOverfull() }
    forgetWaiting()
    if out.count > readyBytes { deliverOut() }
  }

  /// Sends what has waited, in pieces, each after others have been heard; all of it for a connection that closes.
  private func sendWaiting(all: Bool = false) {
    // A WebSocket's own frames, a pong say, may come between two writes, but not inside a frame.
    let room = isWebSocket ? .max : Self.pieceBytes
    while !isCongested, all || (!isYielding && handedBytes < Self.pieceBytes) {
      var piece = JSONWriter()
      gathering: while piece.count < Self.pieceBytes, let part = outbox.first {
        switch part {
        case .bytes, .rest: outbox.takeBytes(room).withUnsafeBytes { piece.raw($0) }
        case .change(let attachment):
          outbox.replaceFirst(with: attachment.takeWaiting().map { self.part(for: $0) })
        case .unwritten(let frame): writeElsewhere(frame)
        case .awaited: break gathering
        }
      }
      if piece.count == 0 { break }
      deliver(piece.bytes())
      if deliveries.isFull, !all { isCongested = true }
    }
    // The client's next messages wait until the rest has been sent, and updates are coalesced.
    if outbox.isReady, !isYielding { isCongested = true }
  }

  private static var pieceBytes: Int { 64 << 10 }
  private static var largeBytes: Int { 1 << 20 }

  /// Closes where too much waits behind the frame that is being sent, of any length.
  private func closeIfOverfull() {
    guard hasTooMuchWaiting() else { return }
    settings.logger.warning("a client was closed for which too many bytes waited")
    dropBuffers()
    deliveries = Deliveries()
    advance(.cut)
  }
}

// MARK: - Changes

extension Connection {
  public func storeChanged(_ frame: borrowing ChangedFrame, of attachment: Attachment) -> Bool {
    if !isHeldUp, outbox.isEmpty {
      // Of its store another text, or none, is followed from now on. And under test what a peer is told does not
      // depend on which changes come in one turn.
      if attachment.isFollowing || testing != nil { endFollowing() }
      // As at the end of a frame, of which there is none where a peer only follows.
      if out.count > Self.flushBytes, !turnEnd.isRecorded { flush() }
    }
    guard isHeldUp || !outbox.isEmpty else {
      if !follow(frame, of: attachment) {
        write(changed: frame.members, applied: attachment.lastApplied)
      }
      return true
    }
    // Its place is behind all that has been written.
    putOff(.change(attachment))
    return false
  }

  public func storeChangedWholly(_ attachment: Attachment) {
    largeChanges.append(attachment)
    sendLargeChange()
  }

  public func finishWaiting(_ attachment: Attachment) {
    guard !life.isOver, let change = attachment.takeWaiting() else { return }
    let part = part(for: change)
    // One place for each store: a second one would take later changes, and send them before what is between.
    if let index = largeChanges.firstIndex(where: { $0 === attachment }) {
      largeChanges.remove(at: index)
      putOff(part)
    } else if !outbox.settle(attachment, as: part) {
      putOff(part)
    }
  }

  /// Writes one frame of a store.
  func write(changed members: UnsafeRawBufferPointer, applied: [UInt8]) {
    guard !life.isOver else { return }
    let start = nextFrame()
    Self.notify(StoreChanged.method, to: &out) {
      Self.write(changed: members, applied: applied, to: &$0)
    }
    endFrame(from: start)
  }

  @inline(__always)
  static func write(
    changed members: UnsafeRawBufferPointer, applied: [UInt8], to writer: inout JSONWriter
  ) {
    writer.raw(members)
    write(applied: applied, to: &writer)
  }

  @inline(__always)
  static func write(applied: [UInt8], to writer: inout JSONWriter) {
    writer.raw(",\"applied\":")
    if applied.isEmpty { writer.raw("null") } else { applied.withUnsafeBytes { writer.raw($0) } }
  }
}
