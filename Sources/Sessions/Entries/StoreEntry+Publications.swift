// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

// The publications of a store, which become updates.

extension StoreEntry: StoreServer {
  var needsPatches: Bool {
    record != nil || history != nil || recording != nil
      || subscriptions.contains { $0.format != nil }
  }

  func willReply() {
    beginFolding()
    // The client may see the store as one of the audiences.
    for entry in audienceEntries { entry.willReply() }
  }

  func didReply(to inputID: InputID, isLast: Bool, isRefused: Bool) {
    for entry in audienceEntries {
      entry.didReply(to: inputID, isLast: isLast, isRefused: isRefused)
    }
    if isLast, let request = awaitedReplies.remove(inputID), !isRefused {
      request.id.withUnsafeBytes { request.subscription.applied($0) }
    }
    // The state may have grown although the view state has not changed. After a publication, the bytes
    // are counted at the end of the turn.
    if pendingUpdate == nil { count() }
    flush()
    endFolding()
  }

  func published(_ publication: borrowing Publication) {
    guard let base = publication.base else { return }
    flushUpdate()
    let update = nextPendingUpdate()
    guard let patch = publication.patch else {
      guard publication.isRedaction else { return }
      redacted = publication.revision
      turnOutcome.hasRedaction = true
      return
    }
    metrics.updates.add()
    recording?.published(patch, publication, base, by: self)
    update.base = base
    update.revision = publication.revision
    update.isRedaction = publication.isRedaction
    if update.headCount == 0 {
      Self.writeName(name, to: &update.members)
      update.headCount = update.members.count
    }
    Self.writeRevisions(base, publication.revision, to: &update.members)
    update.members.raw(",\"patch\":")
    update.patchStart = update.members.count
    update.members.raw(patch)
    if let record { write(publication, update, record) }
    if isStateWanted { writeState(publication, update) }
    update.isWaiting = true
    // A publication of a running effect belongs to no request, so it is sent immediately.
    if folding == nil { flush() }
  }

  func failed(_ error: JSONError) {
    if folding == nil { report(error, of: nil) } else { folding?.failures.append(error) }
  }

  /// Reports a failure, with the id of the request whose input has caused it.
  func report(_ failure: JSONError, of request: UnsafeRawBufferPointer?) {
    turnOutcome.storeFailed(
      StoreFailure(
        store: name, kind: kind, error: failure, session: account.handle?.abbreviated,
        request: request.map { String(decoding: $0.prefix(100), as: UTF8.self) }))
  }

  func happened(_ event: UnsafeRawBufferPointer, for recipients: EventRecipients) {
    recording?.happened(event, at: self)
    waitingEvents.append((Array(event), recipients))
    if folding == nil { flush() }
  }
}

extension StoreEntry: TurnObserver {
  func turnEnded() {
    notePresence()
    store.dropBuffers()
    if broadcast?.hasSubscribers == false { broadcast = nil }
    count()
    // Nothing waits any more: each folding ends with a flush.
    flush()
    pendingUpdate = nil
  }
}
