// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON

// Bytes for a client are sent once the commit of their turn has ended; without a journal immediately.
extension ClientWriter {
  /// The commits that bytes have to wait for that are delivered now; nil if there are none.
  private var pendingCommits: PendingCommits? {
    turnOutcome.pendingCommits(of: session, after: leftCommits)
      ?? commitQueue.lastCommit.map { PendingCommits(last: $0) }
  }

  /// Gives what is written until now to the output, after all that was given before.
  func deliverOut() {
    guard let commits = pendingCommits else { return handOver() }
    handOut()
    deliver(.bytes(out.bytes()), after: commits)
    out.removeAll(keepingCapacity: false)
  }

  /// The same for bytes that are not in `out`.
  func deliver(_ bytes: [UInt8]) {
    if let commits = pendingCommits { return deliver(.bytes(bytes), after: commits) }
    handedBytes += bytes.count
    act(.write(bytes))
  }

  /// The same for bytes that several clients receive.
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
    guard !isCommitAwaited else { return }
    isCommitAwaited = true
    turnOutcome.awaitCommit(self)
  }

  /// Counts the bytes that the turn has for the journal because of this client: it is not read from while they are many.
  public func countEntries() {
    guard !isClosed, let bytes = turnOutcome.entryBytes, let commits = pendingCommits else {
      return
    }
    awaitCommit()
    commitQueue.count(entryBytes: bytes, of: commits)
    if commitQueue.isFull { isCongested = true }
  }

  /// Notes whether more bytes would only have to wait.
  public func updateCongestion() { isCongested = output.isCongested || commitQueue.isFull }

  /// The client leaves its session: bytes for it wait for the commits of that, too.
  public func willLeaveSession() {
    guard turnOutcome.isRecorded else { return }
    if let commits = turnOutcome.pendingCommits(of: session, after: leftCommits) {
      leftCommits = commits.all
      // They may still be in the outbox if such a commit fails.
      awaitCommit()
    } else {
      leftCommits = []
    }
    if !turnOutcome.complete(session) { isLost = true }
  }
}

extension ClientWriter: CommitObserver {
  public func committed(_ result: CommitResult, isolation shard: isolated Shard) {
    isCommitAwaited = false
    if leftCommits.contains(where: result.hasFailed) || commitQueue.isAnyLost(result) {
      leftCommits = []
      return cut()
    }
    leftCommits.removeAll(where: result.includes)
    if !leftCommits.isEmpty { awaitCommit() }
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
