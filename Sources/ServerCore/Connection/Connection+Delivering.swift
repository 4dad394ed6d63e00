// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON

// Bytes for a client are sent once the commit of their turn has ended; without a journal immediately.
extension Connection {
  /// The commits that bytes have to wait for that are delivered now; nil if there are none.
  private var pendingCommits: PendingCommits? {
    turnEnd.pendingCommits(of: member.session, after: leftCommits)
      ?? deliveries.lastCommit.map { PendingCommits(last: $0) }
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

  private func deliver(_ content: Deliveries.Content, after commits: PendingCommits) {
    awaitCommit()
    deliveries.add(content, after: commits)
    countBuffers()
  }

  private func awaitCommit() {
    guard !isCommitAwaited else { return }
    isCommitAwaited = true
    turnEnd.awaitCommit(self)
  }

  /// Counts the bytes that the turn has for the journal because of this client: it is not read from while they are many.
  func countEntries() {
    guard !life.isOver, let bytes = turnEnd.entryBytes, let commits = pendingCommits else {
      return
    }
    awaitCommit()
    deliveries.count(entryBytes: bytes, of: commits)
    if deliveries.isFull { isCongested = true }
  }

  /// Notes whether more bytes would only have to wait.
  func updateCongestion() { isCongested = output.isCongested || deliveries.isFull }

  /// The client leaves its session: bytes for it wait for the commits of that, too.
  func willLeaveSession() {
    guard turnEnd.isRecorded else { return }
    if let commits = turnEnd.pendingCommits(of: member.session, after: leftCommits) {
      leftCommits = commits.all
      // They may still be in the outbox if such a commit fails.
      awaitCommit()
    } else {
      leftCommits = []
    }
    if !turnEnd.complete(member.session) { isLost = true }
  }
}

extension Connection: CommitObserver {
  public func committed(_ result: CommitResult, isolation shard: isolated Shard) {
    isCommitAwaited = false
    if leftCommits.contains(where: result.hasFailed) || deliveries.isAnyLost(result) {
      leftCommits = []
      return drop()
    }
    leftCommits.removeAll(where: result.includes)
    if !leftCommits.isEmpty { awaitCommit() }
    if deliveries.isEmpty { return }
    for content in deliveries.takeReady(result) {
      switch content {
      case .bytes(let bytes): if !bytes.isEmpty { act(.write(bytes)) }
      case .broadcast(let buffer, let start): act(.broadcast(buffer, from: start))
      }
    }
    if !deliveries.isEmpty { awaitCommit() }
    guard !life.isOver else {
      if deliveries.isEmpty { act(.endOutput) }
      return
    }
    countBuffers()
    guard isCongested else { return }
    updateCongestion()
    guard !isCongested else { return }
    flush()
    resume(shard)
    act(.read)
  }
}
