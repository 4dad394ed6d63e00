// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
public import StatewireProtocol
internal import Wire

// The bytes that are held for a client: of a frame that has not ended, and of what it has yet to read. Only large
// buffers are counted; the limit for all clients is one that small ones do not reach.
extension ClientWriter {
  private static var smallBytes: Int { 16 << 10 }
  /// A client for which no more than this waits is not disconnected for the sake of others.
  private static var freeBytes: Int { 256 << 10 }

  /// The client belongs to an identity from now on.
  public func belong(to identity: String, _ buffers: ByteAccount) {
    owner = identity
    self.buffers = buffers
    account = nil
  }

  /// Brings the account to what is held now.
  public func countBuffers() {
    let bytes = partialBytes + outbox.byteCount + commitQueue.byteCount + (offloadedBytes ?? 0)
    guard bytes > Self.smallBytes else {
      account = nil
      return
    }
    let account = account ?? ByteAccount(within: buffers)
    account.set(bytes)
    self.account = account
  }

  /// Counts the bytes of a frame that has begun and not ended.
  ///
  /// - Returns: False if all connections hold as much as they may: the frame is to be skipped, and the client is notified.
  public func mayKeep(partialBytes bytes: Int) -> Bool {
    partialBytes = bytes
    guard bytes > Self.smallBytes || account != nil else { return true }
    countBuffers()
    guard bytes > Self.smallBytes, buffers.isFull() else { return true }
    partialBytes = 0
    countBuffers()
    fail(RPCError(limit: .bufferBytes, Self.bufferText))
    return false
  }

  /// Counts the bytes of a request that another thread works on; updates wait for its response.
  public func requestOffloaded(byteCount: Int) {
    offloadedBytes = byteCount
    if byteCount > 0 { countBuffers() }
  }

  /// The work of another thread for a request has ended.
  public func offloadEnded() { offloadedBytes = nil }

  /// True if too much waits for the client, beside the frame that is being sent.
  func hasTooMuchWaiting() -> Bool {
    countBuffers()
    if outbox.byteCountBehindFirst + out.count + output.waitingBytes > maximumBytes { return true }
    return outbox.byteCount > Self.freeBytes && buffers.isFull()
  }

  /// Everything that waited has been sent.
  func forgetWaiting() { if account != nil { countBuffers() } }

  /// Releases everything that waits outside of the commit queue.
  func dropBuffers() {
    outbox = Outbox()
    largeChanges = []
    offloadedBytes = nil
    account = nil
  }

  /// Refuses a large response for which there is no space.
  public func checkRoom(forAnswerOf bytes: Int) throws(RPCError) {
    if buffers.isFull(adding: bytes) { throw RPCError(limit: .bufferBytes, Self.bufferText) }
  }

  /// Refuses a response to a batch that has some already.
  public func checkRoom(in batch: Batch) throws(RPCError) {
    if batch.byteCount > maximumBytes {
      throw RPCError(limit: .outboxBytes, "the answers to this batch are too long already")
    }
    guard batch.byteCount > Self.smallBytes else { return }
    let account = batch.account ?? ByteAccount(within: buffers)
    account.set(batch.byteCount)
    batch.account = account
    // Measured before it is written: a client that reads is not disconnected for its responses.
    try checkRoom(forAnswerOf: JSONEncodedState.largeBytes)
  }

  private static var bufferText: String { "all connections hold as many bytes as they may" }
}
