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

  /// Gives bytes to the output after all that was delivered before.
  func deliver(_ bytes: UnsafeRawBufferPointer) {
    guard let commits = pendingCommits else { return output.write(bytes) }
    deliver(.bytes(Array(bytes)), after: commits)
  }

  /// The same for bytes that several clients receive.
  func deliver(_ buffer: BroadcastBuffer, from start: Int) {
    guard let commits = pendingCommits else { return output.write(buffer, from: start) }
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
    guard phase != .closed, let bytes = turnEnd.entryBytes, let commits = pendingCommits else {
      return
    }
    awaitCommit()
    deliveries.count(entryBytes: bytes, of: commits)
    updateCongestion()
  }

  /// Notes whether more bytes would only have to wait.
  func updateCongestion() { isCongested = output.isCongested || deliveries.isFull }

  /// Delivers the rest for a connection that closes.
  func deliverRest() {
    var rest = JSONWriter()
    swap(&rest, &out)
    rest.withBytes { deliver($0) }
  }

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
      case .bytes(let bytes):
        if !bytes.isEmpty { bytes.withUnsafeBytes { output.write($0) } }
      case .broadcast(let buffer, let start): output.write(buffer, from: start)
      }
    }
    if !deliveries.isEmpty { awaitCommit() }
    guard phase != .closed else {
      if deliveries.isEmpty { output.close() }
      return
    }
    countBuffers()
    guard isCongested else { return }
    updateCongestion()
    guard !isCongested else { return }
    flush()
    resume(shard)
    output.wantsBytesAgain()
  }
}
