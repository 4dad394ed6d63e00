// SPDX-License-Identifier: Apache-2.0

public import Sessions
public import StatewireJSON
public import StatewireProtocol
internal import Wire

// A response is a message, or a part of the response to its batch.
extension ClientWriter {
  /// Writes the response to a request whose message is no longer in memory.
  ///
  /// - Parameters:
  ///   - address: The id and the batch of the request.
  ///   - body: Writes everything after the id.
  public func respond(to address: ReplyAddress, _ body: (inout JSONWriter) -> Void) {
    address.id.text.withUnsafeBytes { respond(to: $0, in: address.batch, body) }
    if let batch = address.batch { finish(batch) }
  }

  /// Writes a response.
  ///
  /// - Parameters:
  ///   - id: The id of the request, as JSON text.
  ///   - batch: The batch that contains the request; nil if there is none.
  ///   - body: Writes everything after the id.
  public func respond(
    to id: UnsafeRawBufferPointer, in batch: Batch?, _ body: (inout JSONWriter) -> Void
  ) {
    write(batch: batch) { $0.response(to: id, body) }
  }

  /// Writes the response to an accepted input, which is the most frequent response.
  ///
  /// - Parameters:
  ///   - id: The id of the request, as JSON text.
  ///   - batch: The batch that contains the request; nil if there is none.
  ///   - revision: The revision of the store after the input.
  ///   - changed: True if the input has changed the view state.
  public func respond(
    to id: UnsafeRawBufferPointer, in batch: Batch?, revision: Revision, changed: Bool
  ) {
    guard batch == nil else {
      return respond(to: id, in: batch) { writer in
        writer.result { $0.accepted(at: revision, changed: changed) }
      }
    }
    guard !isClosed else { return }
    let start = nextFrame()
    out.raw("{\"jsonrpc\":\"2.0\",\"id\":")
    out.raw(id)
    out.raw(",\"result\":{")
    out.accepted(at: revision, changed: changed)
    out.raw("}}")
    endFrame(from: start)
  }

  /// Writes a response whose result can be large. A large one is written on another thread.
  ///
  /// - Parameters:
  ///   - id: The id of the request, as JSON text.
  ///   - expectedBytes: The approximate length of the result, in bytes.
  ///   - body: Writes the members of the result, on any thread. An error that it throws becomes the
  ///     response.
  /// - Throws: `RPCError` if the limit of buffered bytes does not admit the response.
  public func respond(
    to id: UnsafeRawBufferPointer, expecting expectedBytes: Int,
    _ body: @escaping @Sendable (inout JSONWriter) throws(RPCError) -> Void
  ) throws(RPCError) {
    let response = LargeResponse(id: Array(id), maximumBytes: maximumBytes, writeResult: body)
    guard isLarge(expectedBytes), heldBack == nil else {
      return write { response.write(to: &$0) }
    }
    try checkRoom(forResponseOf: expectedBytes)
    let framing = framing
    enqueue(
      .unwritten(
        UnwrittenFrame(id: response.id, expectedBytes: expectedBytes) { writer in
          framing.frame(into: &writer) { response.write(to: &$0) }
        }))
  }

  /// Writes a response in a batch, or returns a closure that writes it on another thread if it is
  /// large.
  ///
  /// - Parameters:
  ///   - id: The id of the request, as JSON text.
  ///   - batch: The batch that contains the request.
  ///   - expectedBytes: The approximate length of the result, in bytes.
  ///   - body: Writes the members of the result, on any thread. An error that it throws becomes the
  ///     response.
  /// - Returns: Nil if the response has been written.
  /// - Throws: `RPCError` if the limit of buffered bytes does not admit the response.
  public func response(
    to id: UnsafeRawBufferPointer, in batch: Batch, expecting expectedBytes: Int,
    _ body: @escaping @Sendable (inout JSONWriter) throws(RPCError) -> Void
  ) throws(RPCError) -> (@Sendable () -> [UInt8])? {
    var response = LargeResponse(id: Array(id), maximumBytes: maximumBytes, writeResult: body)
    guard isLarge(expectedBytes) else {
      write(batch: batch) { response.write(to: &$0) }
      return nil
    }
    try checkRoom(forResponseOf: expectedBytes)
    response.maximumBytes -= batch.byteCount
    return { [response] in
      var writer = JSONWriter(reserving: expectedBytes)
      response.write(to: &writer)
      return writer.bytes()
    }
  }

  /// Writes an error response with the id null, for a frame or a part of a batch that is not a
  /// request.
  public func fail(_ error: RPCError, batch: Batch? = nil) {
    count(error)
    write(batch: batch) { $0.errorWithoutRequest(error) }
  }

  /// Counts an error for the client in the metrics.
  public func count(_ error: RPCError) { turnOutcome.metrics.count(error) }

  /// Counts one more completed part of a batch; after the last one, sends the responses.
  public func finish(_ batch: Batch) {
    batch.open -= 1
    guard batch.open == 0, !batch.isEmpty else { return }
    batch.responses.raw(byte: UInt8(ascii: "]"))
    // Before the responses are written, because they would be counted twice otherwise.
    batch.account = nil
    if let pieces = batch.takePieces() { return write(pieces) }
    write { writer in batch.responses.withBytes { writer.raw($0) } }
    batch.responses.removeAll(keepingCapacity: false)
  }

  /// Writes one message that consists of several arrays, which are not copied.
  private func write(_ pieces: [[UInt8]]) {
    guard !isClosed else { return }
    var pieces = pieces
    switch framing {
    case .webSocket:
      return write { writer in for piece in pieces { writer.raw(piece) } }
    case .stream(.headers):
      let messageBytes = pieces.reduce(0) { $0 + $1.count }
      FrameWriter.withHeaders(messageBytes: messageBytes) { pieces.insert(Array($0), at: 0) }
    case .stream(.lines): pieces.append([UInt8(ascii: "\n")])
    }
    guard heldBack == nil else {
      for piece in pieces { heldBack?.append(contentsOf: piece) }
      return awaitTurnEnd()
    }
    enqueue(.bytes(pieces[0]))
    for piece in pieces.dropFirst() { outbox.add(.rest(piece)) }
  }

  /// Writes a response into its batch, or as a message if there is no batch.
  private func write(batch: Batch?, _ response: (inout JSONWriter) -> Void) {
    guard let batch else { return write(response) }
    batch.beginResponse()
    response(&batch.responses)
  }
}

extension JSONWriter {
  /// Writes the members of the result for an accepted input.
  @inline(__always)
  public mutating func accepted(at revision: Revision, changed: Bool) {
    raw("\"revision\":")
    value(revision)
    if changed { raw(",\"changed\":true") } else { raw(",\"changed\":false") }
  }
}
