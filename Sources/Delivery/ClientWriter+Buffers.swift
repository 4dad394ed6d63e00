// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
public import StatewireProtocol
internal import Wire

// Accounting of the bytes that are buffered for a client: an incomplete frame from the client, and
// the output that the client has not read. Only buffers larger than 16 KiB are counted; the limit
// for all clients is so large that small buffers do not reach it.
extension ClientWriter {
  private static var smallBytes: Int { 16 << 10 }
  /// A client with at most this many queued bytes is not disconnected because of the bytes of other
  /// clients.
  private static var freeBytes: Int { 256 << 10 }

  /// Sets the identity of the client and the account of that identity.
  public func belong(to identity: String, _ buffers: ByteAccount) {
    owner = identity
    self.buffers = buffers
    account = nil
  }

  /// Updates the account to the current size of the buffers.
  func countBuffers() {
    let bytes =
      partialBytes + outbox.byteCount + heldBackBytes + commitQueue.byteCount
      + (offloadedBytes ?? 0)
    guard bytes > Self.smallBytes else {
      account = nil
      return
    }
    let account = account ?? ByteAccount(within: buffers)
    account.set(bytes)
    self.account = account
  }

  /// Counts the bytes of an incomplete frame.
  ///
  /// - Returns: False if the limit of all connections, or of the client's identity, is exceeded.
  ///   The caller must then skip the frame; the client has been sent an error.
  public func canBuffer(partialBytes bytes: Int) -> Bool {
    partialBytes = bytes
    guard bytes > Self.smallBytes || account != nil else { return true }
    countBuffers()
    guard bytes > Self.smallBytes, buffers.isFull() else { return true }
    partialBytes = 0
    countBuffers()
    fail(RPCError(limit: .bufferBytes, Self.bufferMessage))
    return false
  }

  /// Counts the bytes of a request that is offloaded. Updates are queued until its response is
  /// written.
  public func requestOffloaded(byteCount: Int) {
    offloadedBytes = byteCount
    if byteCount > 0 { countBuffers() }
  }

  /// Records that the offloaded request has ended.
  public func offloadEnded() { offloadedBytes = nil }

  /// Returns true if the queued bytes exceed a limit.
  ///
  /// The frame that is being sent does not count towards the limit of the client.
  func exceedsLimits() -> Bool {
    countBuffers()
    let waiting = outbox.byteCountAfterFirst + heldBackBytes + out.count + output.waitingBytes
    if waiting > maximumBytes { return true }
    return outbox.byteCount + heldBackBytes > Self.freeBytes && buffers.isFull()
  }

  /// Number of bytes that follow a message whose last part is missing.
  var heldBackBytes: Int { heldBack?.count ?? 0 }

  /// Updates the account after all queued bytes have been sent.
  func countEmptyBuffers() { if account != nil { countBuffers() } }

  /// Releases all queued bytes except those in the commit queue.
  func dropBuffers() {
    outbox = Outbox()
    largeChanges = []
    offloadEnded()
    account = nil
  }

  /// Checks that the limit of buffered bytes admits a large response.
  ///
  /// - Throws: `RPCError` with the limit `bufferBytes`.
  public func checkRoom(forResponseOf bytes: Int) throws(RPCError) {
    if buffers.isFull(adding: bytes) { throw RPCError(limit: .bufferBytes, Self.bufferMessage) }
  }

  /// Checks that the limits admit one more response in a batch.
  ///
  /// - Throws: `RPCError` with the limit `outboxBytes` or `bufferBytes`.
  public func checkRoom(in batch: Batch) throws(RPCError) {
    if batch.byteCount > maximumBytes {
      throw RPCError(
        limit: .outboxBytes,
        "the responses to this batch are too large; send fewer requests in one batch")
    }
    guard batch.byteCount > Self.smallBytes else { return }
    let account = batch.account ?? ByteAccount(within: buffers)
    account.set(batch.byteCount)
    batch.account = account
    // The check is before the write: a client that reads must not be disconnected because of its
    // own responses.
    try checkRoom(forResponseOf: JSONEncodedState.largeBytes)
  }

  private static var bufferMessage: String { "the connection buffers are full; try again later" }
}
