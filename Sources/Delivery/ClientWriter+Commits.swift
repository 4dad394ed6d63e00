// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON

// Bytes for a client are sent when the commit of their turn has ended; immediately if there is no
// journal.
extension ClientWriter {
  /// The commits that must end before bytes that are delivered now are sent; nil if there are none.
  private var pendingCommits: PendingCommits? {
    turnOutcome.pendingCommits(of: session, after: formerSessionCommits)
      ?? commitQueue.lastCommit.map { PendingCommits(last: $0) }
  }

  /// Passes the bytes of `out` to the output, after all bytes that were passed before.
  func deliverOut() {
    guard let commits = pendingCommits else { return markReady() }
    passReadyBytes()
    deliver(.bytes(out.bytes()), after: commits)
    out.removeAll(keepingCapacity: false)
  }

  /// Passes other bytes to the output, after all bytes that were passed before.
  func deliver(_ bytes: [UInt8]) {
    if let commits = pendingCommits { return deliver(.bytes(bytes), after: commits) }
    actionBytes += bytes.count
    act(.write(bytes))
  }

  /// Passes a broadcast buffer to the output, after all bytes that were passed before.
  func deliver(_ buffer: BroadcastBuffer, from start: Int) {
    guard let commits = pendingCommits else { return act(.broadcast(buffer, from: start)) }
    deliver(.broadcast(buffer, from: start), after: commits)
  }

  private func deliver(_ content: CommitQueue.Content, after commits: PendingCommits) {
    awaitCommit()
    commitQueue.add(content, after: commits)
    countBuffers()
  }

  private func awaitCommit() {
    guard registrations.insert(.commit).inserted else { return }
    turnOutcome.awaitCommit(self)
  }

  /// Counts the bytes of the turn's journal entries for the client that caused them. The server
  /// stops reading from the client while they exceed a limit.
  public func countEntries() {
    guard !isClosed, let bytes = turnOutcome.entryBytes, let commits = pendingCommits else {
      return
    }
    awaitCommit()
    commitQueue.count(entryBytes: bytes, of: commits)
    if commitQueue.isFull { isCongested = true }
  }

  /// Updates `isCongested` from the output and the commit queue.
  public func updateCongestion() { isCongested = output.isCongested || commitQueue.isFull }

  /// Prepares for leaving the session: later bytes for the client wait for the pending commits of
  /// that session, too.
  public func willLeaveSession() {
    guard turnOutcome.isRecorded else { return }
    if let commits = turnOutcome.pendingCommits(of: session, after: formerSessionCommits) {
      formerSessionCommits = commits.all
      // The bytes may still be in the outbox when such a commit fails.
      awaitCommit()
    } else {
      formerSessionCommits = []
    }
    if !turnOutcome.complete(session) { isLost = true }
  }
}

extension ClientWriter: CommitObserver {
  /// Sends the bytes whose commits have ended, or disconnects the client if one of them has failed.
  public func committed(_ result: CommitResult, isolation shard: isolated Shard) {
    registrations.remove(.commit)
    if isLost || formerSessionCommits.contains(where: result.hasFailed)
      || commitQueue.isAnyLost(result)
    {
      formerSessionCommits = []
      return lose()
    }
    formerSessionCommits.removeAll(where: result.includes)
    if !formerSessionCommits.isEmpty { awaitCommit() }
    if commitQueue.isEmpty { return }
    for content in commitQueue.takeReady(result) {
      switch content {
      case .bytes(let bytes): if !bytes.isEmpty { act(.write(bytes)) }
      case .broadcast(let buffer, let start): act(.broadcast(buffer, from: start))
      }
    }
    if !commitQueue.isEmpty { awaitCommit() }
    guard !isClosed else {
      if commitQueue.isEmpty { act(.endOutput) }
      return
    }
    countBuffers()
    guard isCongested else { return }
    updateCongestion()
    guard !isCongested else { return }
    flush()
    delegate.writerIsReady(shard)
  }
}
