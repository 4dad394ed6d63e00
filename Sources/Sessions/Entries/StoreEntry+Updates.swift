// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON
internal import StatewireProtocol

// The updates and events for subscriptions.

extension StoreEntry {
  /// Sends the update that waits and the events that follow it.
  func flush() {
    flushUpdate()
    guard !waitingEvents.isEmpty else { return }
    let events = waitingEvents
    waitingEvents.removeAll()
    for (event, recipients) in events { deliver(event, recipients) }
  }

  private func deliver(_ event: [UInt8], _ recipients: EventRecipients) {
    event.withUnsafeBytes { event in
      subscriptions.visit { if recipients.contains($0.viewer) { $0.happened(event) } }
    }
  }

  func flushUpdate() {
    guard let waiting, waiting.isWaiting else { return }
    waiting.isWaiting = false
    waiting.members.withBytes { members in
      // A replay must not show what is hidden now.
      if waiting.isRedaction {
        redacted = waiting.revision
        turnOutcome.hasRedaction = true
        history?.restart(from: redacted)
      } else {
        keep(members, to: waiting.revision)
      }
      let patch = UnsafeRawBufferPointer(rebasing: members[waiting.patchStart...])
      deliver(waiting.frame(patch, members, currentBroadcast()), .patch)
      if waiting.isStateLarge {
        subscriptions.visit { if $0.format == .state { $0.stateChanged(since: waiting.base) } }
      }
      guard waiting.stateMembers.count > 0 else { return }
      waiting.stateMembers.withBytes { deliver(waiting.frame(patch, $0, nil), .state) }
    }
    waiting.removeAll()
  }

  private func deliver(_ frame: consuming Update, _ format: FrameFormat) {
    // The subscribers of the buffer receive the update with this call, even if they leave the
    // buffer while other subscribers are notified.
    frame.text?.add(frame)
    if let others = frame.text?.others {
      for subscription in others { deliver(frame, format, to: subscription) }
    } else {
      subscriptions.visit { deliver(frame, format, to: $0) }
      if let text = frame.text { text.others = subscriptions.filter { $0.broadcast !== text } }
    }
    // After the notified subscribers: usually one of them has sent the input and waits for the
    // response.
    frame.text?.awaitTurnEnd()
  }

  /// Returns the broadcast buffer for the next update; nil if there are fewer than two
  /// subscriptions.
  private func currentBroadcast() -> BroadcastUpdates? {
    guard subscriptions.count > 1 else { return nil }
    if let text, !text.isFull { return text }
    let text = BroadcastUpdates(turnOutcome)
    self.text = text
    return text
  }

  private func deliver(
    _ frame: borrowing Update, _ format: FrameFormat, to subscription: Subscription
  ) {
    guard subscription.format == format else { return }
    let hasIt =
      subscription.broadcast.map { $0 === frame.text }
      ?? (subscription.broadcastRevision == frame.revision)
    if !hasIt { subscription.changed(frame) }
  }

  /// True if a subscription has the format `state`. Subscribers of the broadcast buffer have the
  /// format `patch`.
  var isStateWanted: Bool {
    if let others = text?.others { return others.contains { $0.format == .state } }
    return subscriptions.contains { $0.format == .state }
  }

  /// Stores an update for reconnecting clients.
  private func keep(_ members: UnsafeRawBufferPointer, to revision: Revision) {
    let start = history?.start
    history?.append(members, to: revision)
    if let record, let now = history?.start, now != start { record.add(.trimmed(now)) }
  }

  /// Returns the object for the next update, and registers it for the end of the turn.
  func nextPendingUpdate() -> PendingUpdate {
    if let waiting, waiting.endsWithTurn { return waiting }
    let room = waiting ?? PendingUpdate()
    waiting = room
    room.endsWithTurn = true
    turnOutcome.add(self)
    return room
  }

  func write(
    _ publication: borrowing Publication, _ waiting: PendingUpdate, _ record: StoreEntryRecord
  ) {
    if !content.isDurable {
      record.add(.step(patch: nil, revision: publication.revision, frame: nil))
    } else if publication.isRedaction {
      record.published(.redaction)
    } else if history?.keeps(waiting.members.count) == true {
      record.published(.frame(waiting.members.bytes()))
    }
  }

  func writeState(_ publication: borrowing Publication, _ waiting: PendingUpdate) {
    waiting.isStateLarge = store.shown.isLarge
    if waiting.isStateLarge { return }
    Self.writeHead(name, waiting.base, waiting.revision, to: &waiting.stateMembers)
    waiting.stateMembers.raw(",\"state\":")
    publication.writeState(to: &waiting.stateMembers)
  }

  /// Writes the members at the start of each update.
  static func writeHead(
    _ store: String, _ base: Revision, _ revision: Revision, to writer: inout JSONWriter
  ) {
    writeName(store, to: &writer)
    writeRevisions(base, revision, to: &writer)
  }

  static func writeName(_ store: String, to writer: inout JSONWriter) {
    writer.raw("\"store\":")
    writer.value(store)
  }

  static func writeRevisions(
    _ base: Revision, _ revision: Revision, to writer: inout JSONWriter
  ) {
    writer.raw(",\"base\":")
    writer.value(base)
    writer.raw(",\"revision\":")
    writer.value(revision)
  }
}
