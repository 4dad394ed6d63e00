// SPDX-License-Identifier: Apache-2.0

internal import Sessions
public import StatewireJSON
public import StatewireProtocol
internal import Wire

// The end of a client whose output can never be sent, because the journal does not take its entries.
extension ClientWriter {
  /// Disconnects the client because the journal lacks entries of its session. On a node among others,
  /// its requests get errors first: the database may be away for long.
  public func lose() {
    guard shard.ownership != nil else { return disconnect() }
    isLost = true
    delegate.journalFailed()
  }

  /// Discards everything that was not passed to the output. Later messages are delivered also while
  /// the node has no lease.
  ///
  /// - Returns: The requests whose responses were discarded. Nil if the client has received a part of
  ///   a frame, after which nothing can be written, or if they are unknown.
  public func discardUnsent() -> DiscardedResponses? {
    let unwritten = outbox.unwrittenIDs
    var bytes: [UInt8] = []
    for action in actions { if case .write(let written) = action { bytes += written } }
    out.withBytes { bytes += $0[..<readyBytes] }
    for content in commitQueue.contents {
      if case .bytes(let waiting) = content { bytes += waiting }
    }
    bytes += outbox.bytes
    out.withBytes { bytes += $0[readyBytes...] }
    discardWritten()
    // The caller writes errors, and ends this connection.
    actions.removeAll { action in
      switch action {
      case .endOutput, .handOver: true
      default: false
      }
    }
    dropBuffers()
    leaveBroadcasts()
    out.removeAll(keepingCapacity: false)
    readyBytes = 0
    commitQueue = CommitQueue()
    formerSessionCommits = []
    guard heldBack == nil, var responses = DiscardedResponses(in: bytes, framing: framing) else {
      return nil
    }
    for id in unwritten { responses.add(id) }
    return responses
  }

  /// Removes written bytes from the actions.
  func discardWritten() {
    actions.removeAll { action in
      switch action {
      case .write, .broadcast: true
      default: false
      }
    }
    (actionBytes, readyBytes) = (0, 0)
    isDiscarded = true
  }

  /// Responds with an error to requests, without waiting for commits; after `discardUnsent`.
  ///
  /// - Parameters:
  ///   - requests: The requests.
  ///   - error: The error.
  public func respond(to requests: DiscardedResponses, _ error: RPCError) {
    var frames = JSONWriter()
    func write(_ id: [UInt8], _ writer: inout JSONWriter) {
      writer.raw("{\"jsonrpc\":\"2.0\",\"id\":")
      writer.raw(id)
      writer.raw(",\"error\":")
      error.write(to: &writer)
      writer.raw(byte: UInt8(ascii: "}"))
    }
    for id in requests.single { framing.frame(into: &frames) { write(id, &$0) } }
    for batch in requests.batches where !batch.isEmpty {
      framing.frame(into: &frames) { writer in
        writer.raw(byte: UInt8(ascii: "["))
        for (index, id) in batch.enumerated() {
          if index > 0 { writer.raw(byte: UInt8(ascii: ",")) }
          write(id, &writer)
        }
        writer.raw(byte: UInt8(ascii: "]"))
      }
    }
    if frames.count > 0 { act(.write(frames.bytes())) }
  }

  /// Writes a message without waiting for commits; after `discardUnsent`.
  public func writeNow(_ body: (inout JSONWriter) -> Void) {
    var frame = JSONWriter()
    framing.frame(into: &frame, body)
    act(.write(frame.bytes()))
  }
}
