// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

extension ClientWriter {
  /// Sends the queued messages until the client stops reading; the remaining ones stay queued.
  ///
  /// Coalesced updates are sent only between messages, because they contain the current state.
  public func flush() {
    guard !isClosed else { return leaveBroadcasts() }
    // A client must not see a state that is missing in the journal. It reconnects and gets the
    // journaled state.
    guard !isLost, turnOutcome.complete(session) else { return lose() }
    // A passive subscriber usually has nothing else to send, so nothing is copied for it.
    if !broadcasts.isEmpty, out.count == 0, outbox.isEmpty, !isCongested, flushBroadcast() {
      return
    }
    leaveBroadcasts()
    // Large output is sent in pieces, so that a frame of many megabytes is not copied as a whole.
    if out.count - readyBytes > Self.largeBytes {
      passReadyBytes()
      outbox.add(.bytes(out.bytes()))
      out.removeAll(keepingCapacity: false)
    }
    if !outbox.isEmpty { sendQueued() }
    if isCongested || !outbox.isEmpty || heldBackBytes > 0 { checkWaiting() }
    if isCongested || !outbox.isEmpty || isClosed { return }
    countEmptyBuffers()
    if out.count > readyBytes { deliverOut() }
  }

  /// Flushes large output after a message.
  ///
  /// With a journal, bytes may be sent only between messages.
  public func messageEnded() {
    if turnOutcome.isRecorded, out.count > Self.flushBytes { flush() }
  }

  /// Sends the contents of the outbox in pieces of 64 KiB; other clients are served between the
  /// pieces, except under test.
  private func sendQueued() {
    let isPaced = testing == nil
    // The server's control frames of a WebSocket, for example a pong, may be sent between two
    // pieces, but not inside a frame.
    let room = writesWholeMessages ? Int.max : Self.pieceBytes
    while !isCongested, !isPaced || (!isYielding && actionBytes < Self.pieceBytes) {
      var piece = JSONWriter()
      gathering: while let part = outbox.first {
        let mayEnd = !writesWholeMessages || !part.isRest
        if piece.count >= Self.pieceBytes, mayEnd { break gathering }
        switch part {
        case .bytes, .rest: outbox.takeBytes(room).withUnsafeBytes { piece.raw($0) }
        case .change(let subscription):
          outbox.replaceFirst(with: subscription.takeWaiting().map { self.part(for: $0) })
        case .unwritten(let frame): writeOffloaded(frame)
        case .awaited: break gathering
        }
      }
      if piece.count == 0 { break }
      deliver(piece.bytes())
      if commitQueue.isFull, isPaced { isCongested = true }
    }
    // The client's next messages wait until the outbox is empty, and its updates are coalesced
    // until then.
    if outbox.isReady, !isYielding { isCongested = true }
  }

  private static var pieceBytes: Int { 64 << 10 }
  private static var largeBytes: Int { 1 << 20 }

  /// Disconnects the client if too many bytes are queued after the frame that is being sent, which
  /// may have any length.
  private func checkWaiting() {
    guard exceedsLimits() else { return }
    turnOutcome.metrics.count(.outboxBytes)
    release(.tooManyBytes)
  }

  /// Discards everything that was not passed to the output, and disconnects the client.
  public func disconnect() {
    // A closed connection may still have bytes that wait for a commit; it ends after they were
    // sent.
    guard !isClosed || !commitQueue.isEmpty else { return }
    out.truncate(to: readyBytes)
    release(.cut)
  }

  private func release(_ failure: Failure) {
    dropBuffers()
    commitQueue = CommitQueue()
    if failure == .cut { leaveBroadcasts() }
    delegate.writerFailed(failure)
  }

  /// Passes the last message to the output before the connection closes; the outbox is empty.
  public func finish() {
    // Also if the client does not read, because nothing follows that could be coalesced.
    if out.count > readyBytes { deliverOut() }
    dropBuffers()
  }

  /// Marks the writer as closed: nothing more is written.
  public func close() { isClosed = true }

  /// Releases everything after the client has disconnected; nothing can be sent.
  public func disconnected() {
    isClosed = true
    // Called before the client's id is removed, because the broadcast updates of stores contain the
    // ids of their subscribers.
    leaveBroadcasts()
    actions = []
    readyBytes = 0
    dropBuffers()
    commitQueue = CommitQueue()
    formerSessionCommits = []
    if registrations.contains(.commit) { turnOutcome.cancelAwaitCommit(self) }
    turnOutcome.clients.remove(id)
  }

  /// Serves other clients before the next message of this client; has no effect under test.
  public func yieldToOthers() {
    guard !isYielding, testing == nil else { return }
    isYielding = true
    act(.yieldToOthers)
  }

  /// Continues after other clients were served.
  public func othersServed() {
    isYielding = false
    flush()
  }
}
