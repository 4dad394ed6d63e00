// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// Answers that take long to write, since they have a large state in them, are written elsewhere, so
// that nobody else waits for them. Their place among what is sent is kept; this peer's next messages
// wait, as if it did not read.
extension Connection {
  /// Whether what comes has to wait: until the peer reads, or an answer is written.
  var isHeldUp: Bool { isCongested || isAnswerAwaited }

  /// Answers a request in hand, if it wants an answer.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - state: What the answer has in it.
  ///   - body: Writes the members of the result, on any thread; what it throws is answered instead.
  func reply(
    to request: Request, with state: JSONEncodedState, _ shard: isolated Shard,
    _ body: @escaping @Sendable (JSONEncodedState, inout JSONWriter) throws(RPCError) -> Void
  ) {
    // Under test what comes together is told together; a batch is answered as one.
    guard state.isLarge, testing == nil, request.batch == nil, let id = request.id else {
      do throws(RPCError) {
        var members = JSONWriter()
        try body(state, &members)
        reply(to: request) { writer in members.withBytes { writer.raw($0) } }
      } catch {
        reply(to: request, error: error)
      }
      return
    }
    endFollowing()
    outbox.add(out.bytes())
    out.removeAll()
    outbox.addAwaited()
    isAnswerAwaited = true
    let (text, framing, isWebSocket) = (Array(id), framing, isWebSocket)
    // because it is looked at on the shard only, where it is given and taken.
    nonisolated(unsafe) weak let connection = self
    shard.elsewhere {
      var frame = JSONWriter(reserving: state.expectedBytes)
      Self.frame(framing, isWebSocket: isWebSocket, into: &frame) { writer in
        text.withUnsafeBytes { Self.answer($0, with: state, body, to: &writer) }
      }
      return frame.bytes()
    } then: { bytes, shard in
      connection?.answered(with: bytes, shard)
    }
  }

  private static func answer(
    _ id: UnsafeRawBufferPointer, with state: JSONEncodedState,
    _ body: (JSONEncodedState, inout JSONWriter) throws(RPCError) -> Void,
    to writer: inout JSONWriter
  ) {
    let start = writer.count
    do throws(RPCError) {
      try answer(
        id,
        { writer throws(RPCError) in
          try result({ writer throws(RPCError) in try body(state, &writer) }, to: &writer)
        }, to: &writer)
    } catch {
      writer.truncate(to: start)
      answer(id, { write(error, to: &$0) }, to: &writer)
    }
  }

  /// The answer that was awaited is written.
  private func answered(with bytes: [UInt8], _ shard: isolated Shard) {
    isAnswerAwaited = false
    outbox.settleAwaited(as: bytes)
    guard phase != .closed else { return }
    awaitTurnEnd()
    isCongested = output.isCongested
    flush()
    guard !isHeldUp else { return }
    resume(shard)
    output.wantsBytesAgain()
  }
}
