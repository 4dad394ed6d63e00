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
    isSending = true
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
    // The state may have grown although the view state has not changed. If an update waits for the end
    // of the turn, the bytes are counted there.
    if waiting?.endsWithTurn != true { count() }
    flush()
    endSending()
  }

  func published(_ publication: borrowing Publication) {
    guard let base = publication.base else { return }
    flushUpdate()
    let waiting = nextPendingUpdate()
    guard let patch = publication.patch else {
      guard publication.isRedaction else { return }
      redacted = publication.revision
      turnOutcome.hasRedaction = true
      return
    }
    metrics.updates.add()
    recording?.published(patch, publication, base, by: self)
    waiting.base = base
    waiting.revision = publication.revision
    waiting.isRedaction = publication.isRedaction
    if waiting.headCount == 0 {
      Self.writeName(name, to: &waiting.members)
      waiting.headCount = waiting.members.count
    }
    Self.writeRevisions(base, publication.revision, to: &waiting.members)
    waiting.members.raw(",\"patch\":")
    waiting.patchStart = waiting.members.count
    waiting.members.raw(patch)
    if let record { write(publication, waiting, record) }
    if isStateWanted { writeState(publication, waiting) }
    waiting.isWaiting = true
    // A publication of a running effect belongs to no request, so it is sent immediately.
    if !isSending { flush() }
  }

  func failed(_ error: JSONError) {
    failuresDuringInput.append(error)
    if !isSending { reportFailures(of: nil) }
  }

  /// Reports failures, with the id of the request whose input has caused them.
  func reportFailures(of request: UnsafeRawBufferPointer?) {
    let failures = failuresDuringInput
    failuresDuringInput = []
    for error in failures {
      turnOutcome.storeFailed(
        StoreFailure(
          store: name, kind: kind, error: error, session: account.handle?.abbreviated,
          request: request.map { String(decoding: $0.prefix(100), as: UTF8.self) }))
    }
  }

  func happened(_ event: UnsafeRawBufferPointer, for recipients: EventRecipients) {
    recording?.happened(event, at: self)
    waitingEvents.append((Array(event), recipients))
    if !isSending { flush() }
  }
}

extension StoreEntry: TurnObserver {
  func turnEnded() {
    notePresence()
    store.dropBuffers()
    if text?.hasSubscribers == false { text = nil }
    count()
    guard let waiting else { return }
    waiting.endsWithTurn = false
    if !waiting.isWaiting { self.waiting = nil }
  }
}
