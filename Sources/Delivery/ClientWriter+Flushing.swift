// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import Wire

extension ClientWriter {
  /// Sends what can be sent; what the client would not read waits.
  ///
  /// Only between messages can updates that have waited be sent: they contain the current state.
  ///
  /// - Parameter isClosing: True if nothing is written after it.
  public func flush(isClosing: Bool = false) {
    guard !isClosed else { return endFollowing() }
    // What waits for the journal, or for the end of the turn, is still sent.
    if isClosing { isCongested = output.isCongested }
    // A client must not see a state that is not in the journal: it returns to the one that is.
    guard !isLost, turnOutcome.complete(session) else { return cut() }
    // Nothing else is to go out, which is the rule for passive subscribers: so nothing is copied for them.
    if !following.isEmpty, out.count == 0, outbox.isEmpty, !isCongested, flushFollowed() { return }
    endFollowing()
    // In pieces too, so that a frame of many megabytes is not copied as a whole.
    if out.count - readyBytes > Self.largeBytes {
      handOut()
      outbox.add(.bytes(out.bytes()))
      out.removeAll(keepingCapacity: false)
    }
    if !outbox.isEmpty { sendWaiting(all: isClosing || testing != nil) }
    if isCongested || !outbox.isEmpty { return checkWaiting() }
    forgetWaiting()
    if out.count > readyBytes { deliverOut() }
  }

  /// The last message was carried out: in a turn with a journal, bytes are whole only now.
  public func messageEnded() {
    if turnOutcome.isRecorded, out.count > Self.flushBytes { flush() }
  }

  /// Sends what has waited, in pieces, each after others were served; all of it for a connection that closes.
  private func sendWaiting(all: Bool) {
    // A WebSocket's own frames, such as a pong, may come between two writes, but not inside a frame.
    let room = framing.isWebSocket ? Int.max : Self.pieceBytes
    while !isCongested, all || (!isYielding && handedBytes < Self.pieceBytes) {
      var piece = JSONWriter()
      gathering: while piece.count < Self.pieceBytes, let part = outbox.first {
        switch part {
        case .bytes, .rest: outbox.takeBytes(room).withUnsafeBytes { piece.raw($0) }
        case .change(let subscription):
          outbox.replaceFirst(with: subscription.takeWaiting().map { self.part(for: $0) })
        case .unwritten(let frame): writeElsewhere(frame)
        case .awaited: break gathering
        }
      }
      if piece.count == 0 { break }
      deliver(piece.bytes())
      if commitQueue.isFull, !all { isCongested = true }
    }
    // The client's next messages wait until the rest has been sent, and updates are coalesced.
    if outbox.isReady, !isYielding { isCongested = true }
  }

  private static var pieceBytes: Int { 64 << 10 }
  private static var largeBytes: Int { 1 << 20 }

  /// Disconnects the client if too much waits after the frame that is being sent, of any length.
  private func checkWaiting() {
    if hasTooMuchWaiting() { release(.tooManyBytes) }
  }

  /// Discards everything that has not been given to the output, and disconnects the client.
  public func cut() {
    // A connection that is closed may still have something to deliver, and ends after that.
    guard !isClosed || !commitQueue.isEmpty else { return }
    out.truncate(to: readyBytes)
    release(.cut)
  }

  private func release(_ failure: Failure) {
    dropBuffers()
    commitQueue = CommitQueue()
    if failure == .cut { endFollowing() }
    delegate.writerFailed(failure)
  }

  /// Sends everything, before the connection closes.
  ///
  /// - Returns: False if the client has not read it, which is discarded.
  public func finish() -> Bool {
    flush(isClosing: true)
    let isSent = isEmpty
    dropBuffers()
    if !isSent { commitQueue = CommitQueue() }
    return isSent
  }

  /// Nothing more is written: the connection is closing.
  public func close() { isClosed = true }

  /// The client is gone: nothing can be sent.
  public func disconnected() {
    isClosed = true
    // Before the client has no id any more: the texts of stores hold those that follow them.
    endFollowing()
    actions = []
    readyBytes = 0
    dropBuffers()
    commitQueue = CommitQueue()
    leftCommits = []
    if isCommitAwaited { turnOutcome.awaitCommitNoMore(self) }
    turnOutcome.clients.remove(id)
  }

  /// Serves others before more is done for this client.
  public func yieldToOthers() {
    guard !isYielding, testing == nil else { return }
    isYielding = true
    act(.yieldToOthers)
  }

  /// Others were served.
  public func othersServed() {
    isYielding = false
    flush()
  }
}
