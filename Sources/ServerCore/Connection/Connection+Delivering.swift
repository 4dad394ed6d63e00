// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON

// What a client is to receive goes out once the commit of its turn has ended; without a journal immediately.
extension Connection {
  /// The commit that anything has to wait for that is delivered now; nil if none.
  private var pendingCommit: CommitNumber? {
    turnEnd.pendingCommit(of: member.session, after: leftCommit) ?? deliveries.lastCommit
  }

  /// Gives bytes to the output after all that was delivered before.
  func deliver(_ bytes: UnsafeRawBufferPointer) {
    guard let commit = pendingCommit else { return output.write(bytes) }
    deliver(.bytes(Array(bytes)), after: commit)
  }

  /// The same for what several clients receive.
  func deliver(_ buffer: BroadcastBuffer, from start: Int) {
    guard let commit = pendingCommit else { return output.write(buffer, from: start) }
    deliver(.broadcast(buffer, from: start), after: commit)
  }

  private func deliver(_ content: Deliveries.Content, after commit: CommitNumber) {
    awaitCommit()
    deliveries.add(content, after: commit, entryBytes: turnEnd.entryBytes)
    countBuffers()
  }

  private func awaitCommit() {
    guard !isCommitAwaited else { return }
    isCommitAwaited = true
    turnEnd.awaitCommit(self)
  }

  /// Counts what the turn has for the journal, also where the client receives nothing.
  func countEntries() {
    guard let commit = pendingCommit, turnEnd.entryBytes != nil, deliveries.lastCommit != commit
    else { return }
    deliver(.bytes([]), after: commit)
    updateCongestion()
  }

  /// Notes whether more bytes would only have to wait.
  func updateCongestion() { isCongested = output.isCongested || deliveries.isFull }

  /// The client leaves its session: what was written for it until now waits for the commits of that.
  func willLeaveSession() {
    guard turnEnd.isRecorded else { return }
    leftCommit = turnEnd.pendingCommit(of: member.session, after: leftCommit)
    // What it was told may still be in the outbox if that commit fails.
    if leftCommit != nil { awaitCommit() }
    if !turnEnd.complete(member.session) { isLost = true }
  }
}

extension Connection: CommitObserver {
  public func committed(_ result: CommitResult, isolation shard: isolated Shard) {
    isCommitAwaited = false
    if let commit = leftCommit {
      if result.hasFailed(commit) { return drop() }
      if result.includes(commit) { leftCommit = nil } else { awaitCommit() }
    }
    if deliveries.isEmpty { return }
    if deliveries.isAnyLost(result) { return drop() }
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
