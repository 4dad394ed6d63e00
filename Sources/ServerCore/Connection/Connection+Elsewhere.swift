// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Frames that take long to write, since they have a large state in them, are written elsewhere, so
// that nobody else waits for them. Their place among what is sent is kept; this peer's next messages
// wait, as if it did not read.
extension Connection {
  /// True while the client's next messages wait: for it to read, or for another thread.
  var isHeldUp: Bool { isCongested || isOffloading }

  /// True while another thread writes a frame, or works on a request.
  var isOffloading: Bool { outbox.hasLargeFrame || offloaded != nil }

  /// Whether something that is about so long is written elsewhere.
  ///
  /// Under test it is not: what comes together is told together.
  private func isLarge(_ expectedBytes: Int) -> Bool {
    expectedBytes > JSONEncodedState.largeBytes && testing == nil
  }

  /// Answers a request in hand, if it wants an answer, with a result that can be large.
  ///
  /// One that is longer than may wait for the peer is refused.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - expectedBytes: About how long the result is.
  ///   - shard: The shard.
  ///   - body: Writes the members of the result, on any thread; what it throws is answered instead.
  func reply(
    to request: Request, expecting expectedBytes: Int, _ shard: isolated Shard,
    _ body: @escaping @Sendable (inout JSONWriter) throws(RPCError) -> Void
  ) {
    guard let id = request.id else { return }
    let answer = LargeAnswer(
      id: Array(id), maximumBytes: settings.limits.outboxBytes, writeResult: body)
    guard isLarge(expectedBytes) else {
      write(batch: request.batch) { answer.write(to: &$0) }
      return
    }
    do throws(RPCError) { try checkRoom(forAnswerOf: expectedBytes) } catch {
      return reply(to: request, error: error)
    }
    if let batch = request.batch { return write(answer, expectedBytes, in: batch, shard) }
    let (framing, isWebSocket) = (framing, isWebSocket)
    putOff(
      .unwritten(
        UnwrittenFrame(expectedBytes: expectedBytes) { writer in
          Self.frame(framing, isWebSocket: isWebSocket, into: &writer) { answer.write(to: &$0) }
        }))
  }

  /// The frame of what a store has changed while the peer did not read.
  func part(for change: MergedChange) -> Outbox.Part {
    let (framing, isWebSocket) = (framing, isWebSocket)
    let frame = UnwrittenFrame(expectedBytes: change.expectedBytes) { writer in
      Self.frame(framing, isWebSocket: isWebSocket, into: &writer) { writer in
        Self.notify(StoreChanged.method, to: &writer) {
          change.write(to: &$0)
          Self.write(applied: change.applied, to: &$0)
        }
      }
    }
    guard isLarge(change.expectedBytes) else {
      var writer = JSONWriter()
      frame.write(&writer)
      return .bytes(writer.bytes())
    }
    return .unwritten(frame)
  }

  /// Sends the next of the large states that the peer wants after each change.
  ///
  /// Not as often as they change: the peer would need all the time of a processor.
  func sendLargeChange() {
    guard !isPausing, !largeChanges.isEmpty else { return }
    let attachment = largeChanges.removeFirst()
    putOff(.change(attachment))
    guard testing == nil else { return sendLargeChange() }
    isPausing = true
    // because it is looked at on the shard only, where it is given and taken.
    nonisolated(unsafe) weak let connection = self
    shard.wait(.seconds(1) * attachment.expectedBytes / Self.largeBytesPerSecond) { _ in
      guard let connection, !connection.life.isOver else { return }
      connection.isPausing = false
      connection.sendLargeChange()
    }
  }

  private static var largeBytesPerSecond: Int { 32 << 20 }

  /// Puts something behind all that has been written.
  func putOff(_ part: Outbox.Part) {
    endFollowing()
    handOut()
    outbox.add(.bytes(out.bytes()))
    out.removeAll()
    outbox.add(part)
    awaitTurnEnd()
  }

  /// Writes the frame that comes first in the outbox.
  func writeElsewhere(_ frame: UnwrittenFrame) {
    outbox.replaceFirst(with: .awaited(expectedBytes: frame.expectedBytes))
    let write = frame.write
    // because it is looked at on the shard only, where it is given and taken.
    nonisolated(unsafe) weak let connection = self
    shard.elsewhere {
      var writer = JSONWriter(reserving: frame.expectedBytes)
      write(&writer)
      return writer.bytes()
    } then: { bytes, shard in
      guard let connection, !connection.life.isOver else { return }
      connection.outbox.replaceFirst(with: .bytes(bytes))
      connection.offloadEnded(shard)
    }
  }

  /// Writes one of the answers to a batch; the next request of the batch waits for it.
  private func write(
    _ answer: LargeAnswer, _ expectedBytes: Int, in batch: Batch, _ shard: isolated Shard
  ) {
    var answer = answer
    answer.maximumBytes -= batch.byteCount
    batch.open += 1
    offload(OffloadedRequest(batch: batch), shard) { [answer] in
      var writer = JSONWriter(reserving: expectedBytes)
      answer.write(to: &writer)
      return writer.bytes()
    } then: { connection, request, bytes, _ in
      guard let batch = request.batch else { return }
      batch.beginAnswer()
      batch.append(bytes)
      connection.finish(batch)
    }
  }

  /// Lets another thread do a part of a request that takes long; the client's next messages wait for it.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - shard: The shard.
  ///   - work: Done on any thread.
  ///   - body: Continues with what `work` gave, in a turn of its own, unless the connection is closed.
  func offload<Outcome: Sendable>(
    _ request: OffloadedRequest, _ shard: isolated Shard,
    _ work: @escaping @Sendable () -> Outcome,
    then body: @escaping @Sendable (Connection, OffloadedRequest, Outcome, isolated Shard) -> Void
  ) {
    // Not in the closure: a batch is released on the shard.
    offloaded = request
    if request.byteCount > 0 { countBuffers() }
    // because it is looked at on the shard only, where it is given and taken.
    nonisolated(unsafe) weak let connection = self
    shard.elsewhere(work) { outcome, shard in
      guard let connection, let request = connection.offloaded else { return }
      connection.offloaded = nil
      body(connection, request, outcome, shard)
      connection.offloadEnded(shard)
    }
  }

  /// Continues with what waited for another thread.
  private func offloadEnded(_ shard: isolated Shard) {
    guard !life.isOver else { return }
    awaitTurnEnd()
    updateCongestion()
    flush()
    guard !isHeldUp else { return }
    resume(shard)
    act(.read)
  }
}

/// A request that another thread works on.
struct OffloadedRequest {
  /// The id as it came; nil if no response is wanted, or the work is the response.
  var id: RequestID?
  var batch: Batch?
  /// How many bytes of it are kept meanwhile.
  var byteCount = 0

  var address: ReplyAddress? { id.map { ReplyAddress(id: $0, batch: batch) } }
}

extension OffloadedRequest {
  /// One that is responded to when the work is done; a part of its batch until then.
  init(_ request: Request, byteCount: Int = 0) {
    self.init(id: request.id.map { RequestID($0) }, batch: request.batch, byteCount: byteCount)
    if id != nil { batch?.open += 1 }
  }
}

/// The answer to a request whose result can be large.
private struct LargeAnswer: Sendable {
  let id: [UInt8]
  var maximumBytes: Int
  let writeResult: @Sendable (inout JSONWriter) throws(RPCError) -> Void

  func write(to writer: inout JSONWriter) {
    let start = writer.count
    id.withUnsafeBytes { id in
      do throws(RPCError) {
        try Connection.answer(
          id,
          { writer throws(RPCError) in
            try Connection.result(
              { writer throws(RPCError) in try writeResult(&writer) }, to: &writer)
          }, to: &writer)
        if writer.count - start > maximumBytes {
          throw RPCError(limit: .outboxBytes, "the result has more bytes than may wait to be read")
        }
      } catch {
        writer.truncate(to: start)
        Connection.answer(id, { Connection.write(error, to: &$0) }, to: &writer)
      }
    }
  }
}
