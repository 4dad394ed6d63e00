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
    guard let pending = pendingUpdate, pending.isWaiting else { return }
    pending.isWaiting = false
    pending.members.withBytes { members in
      // A replay must not show what is hidden now.
      if pending.isRedaction {
        redacted = pending.revision
        turnOutcome.hasRedaction = true
        history?.restart(from: redacted)
      } else {
        keep(members, to: pending.revision)
      }
      let patch = UnsafeRawBufferPointer(rebasing: members[pending.patchStart...])
      deliver(pending.update(patch, members, currentBroadcast()))
      if pending.isStateOmitted {
        visitOthers { if $0.format == .state { $0.stateChanged(since: pending.base) } }
      }
      guard pending.stateMembers.count > 0 else { return }
      pending.stateMembers.withBytes {
        let update = pending.update(patch, $0, nil)
        visitOthers { deliver(update, .state, to: $0) }
      }
    }
    pending.removeAll()
  }

  /// Delivers an update to the subscriptions with the format `patch`.
  private func deliver(_ update: consuming Update) {
    // The subscribers of the buffer receive the update with this call, even if they leave the
    // buffer while other subscribers are notified.
    update.broadcast?.add(update)
    if let others = update.broadcast?.others {
      for subscription in others { deliver(update, .patch, to: subscription) }
    } else {
      subscriptions.visit { deliver(update, .patch, to: $0) }
      if let broadcast = update.broadcast {
        broadcast.others = subscriptions.filter { $0.broadcast !== broadcast }
      }
    }
    // After the notified subscribers: usually one of them has sent the input and waits for the
    // response.
    update.broadcast?.awaitTurnEnd()
  }

  /// Returns the broadcast buffer for the next update; nil if there are fewer than two
  /// subscriptions.
  private func currentBroadcast() -> BroadcastUpdates? {
    guard subscriptions.count > 1 else { return nil }
    if let broadcast, !broadcast.isFull { return broadcast }
    let broadcast = BroadcastUpdates(turnOutcome)
    self.broadcast = broadcast
    return broadcast
  }

  private func deliver(
    _ update: borrowing Update, _ format: FrameFormat, to subscription: Subscription
  ) {
    guard subscription.format == format else { return }
    let hasIt =
      subscription.broadcast.map { $0 === update.broadcast }
      ?? (subscription.broadcastRevision == update.revision)
    if !hasIt { subscription.changed(update) }
  }

  /// True if a subscription has the format `state`.
  var isStateWanted: Bool { isOther { $0.format == .state } }

  /// True if a client takes the state with the next update. One that does not read takes the state
  /// when it reads again, so that it is not written for each change until then.
  var isStateReadNow: Bool { isOther { $0.format == .state && !$0.isCoalescing } }

  // Subscriptions with the format `state` are among those that do not use the broadcast buffer. The
  // subscribers of the buffer can be thousands, and are not searched at each change.

  /// Returns true if a subscription that may have the format `state` satisfies `predicate`.
  private func isOther(_ predicate: (Subscription) -> Bool) -> Bool {
    if let others = broadcast?.others { return others.contains(where: predicate) }
    return subscriptions.contains(where: predicate)
  }

  /// Calls `body` with each subscription that may have the format `state`.
  private func visitOthers(_ body: (Subscription) -> Void) {
    if let others = broadcast?.others { others.forEach(body) } else { subscriptions.visit(body) }
  }

  /// Stores an update for reconnecting clients.
  private func keep(_ members: UnsafeRawBufferPointer, to revision: Revision) {
    let start = history?.start
    history?.append(members, to: revision)
    if let record, let now = history?.start, now != start { record.add(.trimmed(now)) }
  }

  /// Returns the object for the next update, and registers it for the end of the turn.
  func nextPendingUpdate() -> PendingUpdate {
    if let pendingUpdate { return pendingUpdate }
    let pending = PendingUpdate()
    pendingUpdate = pending
    turnOutcome.add(self)
    return pending
  }

  func write(
    _ publication: borrowing Publication, _ pending: PendingUpdate, _ record: StoreEntryRecord
  ) {
    if !content.isDurable {
      record.add(.step(patch: nil, revision: publication.revision, frame: nil))
    } else if publication.isRedaction {
      record.published(.redaction)
    } else if history?.keeps(pending.members.count) == true {
      record.published(.frame(pending.members.bytes()))
    }
  }

  func writeState(_ publication: borrowing Publication, _ pending: PendingUpdate) {
    pending.isStateOmitted = store.shown.isLarge || !isStateReadNow
    if pending.isStateOmitted { return }
    Self.writeHead(name, pending.base, pending.revision, to: &pending.stateMembers)
    pending.stateMembers.raw(",\"state\":")
    publication.writeState(to: &pending.stateMembers)
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
