// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import StatewireJSON
internal import StatewireProtocol

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

  func flush() {
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
