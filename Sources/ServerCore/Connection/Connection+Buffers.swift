// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// What is held for a peer: of a frame that has not ended, and of what it has yet to read. Only large buffers are
// counted; the limit for all connections is one that small ones do not reach.
extension Connection {
  private static var smallBytes: Int { 16 << 10 }
  /// A peer for whom no more than this waits is not closed for the sake of others.
  private static var freeBytes: Int { 256 << 10 }

  /// The account that what is held for the peer is counted in.
  private var identityBuffers: ByteAccount { common.buffers.account(of: identity?.name) }

  /// Brings the account to what is held now.
  func countBuffers() {
    let bytes = partialBytes + outbox.byteCount + deliveries.byteCount + (offloaded?.byteCount ?? 0)
    guard bytes > Self.smallBytes else {
      buffers = nil
      return
    }
    let account = buffers ?? ByteAccount(within: identityBuffers)
    account.set(bytes)
    buffers = account
  }

  /// Skips the frame that has begun where all connections hold as much as they may.
  func checkPartialFrame() {
    if !mayKeep(partialBytes: frames.partialBytes) { frames.skipFrame() }
  }

  /// Counts what is kept of a frame that has begun, here or by the transport.
  ///
  /// - Returns: False if all connections hold as much as they may: the frame is to be skipped, and the client is told.
  public func mayKeep(partialBytes bytes: Int) -> Bool {
    partialBytes = bytes
    guard bytes > Self.smallBytes || buffers != nil else { return true }
    countBuffers()
    guard bytes > Self.smallBytes, identityBuffers.isFull() else { return true }
    partialBytes = 0
    countBuffers()
    fail(RPCError(limit: .bufferBytes, Self.bufferText))
    return false
  }

  /// Whether too much waits for the peer, beside the frame that is being sent.
  func hasTooMuchWaiting() -> Bool {
    countBuffers()
    if outbox.byteCountBehindFirst + out.count + output.waitingBytes > settings.limits.outboxBytes {
      return true
    }
    return outbox.byteCount > Self.freeBytes && identityBuffers.isFull()
  }

  /// Everything that waited has been sent.
  func forgetWaiting() { if buffers != nil { countBuffers() } }

  /// Releases everything that waits for a connection that is closed.
  func dropBuffers() {
    outbox = Outbox()
    largeChanges = []
    batchRest = nil
    offloaded = nil
    buffers = nil
  }

  /// Refuses a large answer for which there is no room.
  func checkRoom(forAnswerOf bytes: Int) throws(RPCError) {
    if identityBuffers.isFull(adding: bytes) {
      throw RPCError(limit: .bufferBytes, Self.bufferText)
    }
  }

  /// Refuses an answer to a batch that has some already.
  func checkRoom(in batch: Batch) throws(RPCError) {
    if batch.byteCount > settings.limits.outboxBytes {
      throw RPCError(limit: .outboxBytes, "the answers to this batch are too long already")
    }
    guard batch.byteCount > Self.smallBytes else { return }
    let account = batch.account ?? ByteAccount(within: identityBuffers)
    account.set(batch.byteCount)
    batch.account = account
    // Measured before it is written: a peer that reads is not closed for its answers.
    try checkRoom(forAnswerOf: JSONEncodedState.largeBytes)
  }

  private static var bufferText: String { "all connections hold as many bytes as they may" }
}
