// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Updates are written immediately, or coalesced while the client does not read.
extension ClientWriter {
  /// Writes an update, or reserves a place for it in the outbox.
  ///
  /// - Returns: False if the update has to be coalesced; `subscription.takeWaiting` is called when
  ///   the client reads again.
  public func storeChanged(_ update: borrowing Update, of subscription: Subscription) -> Bool {
    if !isBlocked, outbox.isEmpty {
      // The client takes the store's updates from another broadcast buffer, or from none, from now
      // on. Under test, the output must not depend on how many changes are in one turn.
      if subscription.isInBroadcast || testing != nil { leaveBroadcasts() }
      // The check of `endFrame`, which is not called for a passive subscriber.
      if out.count > Self.flushBytes, !turnOutcome.isRecorded { flush() }
    }
    guard isBlocked || !outbox.isEmpty else {
      if !joinBroadcast(update, of: subscription) {
        write(update: update.members, applied: subscription.lastApplied)
      }
      return true
    }
    // The update is sent after everything that has been written.
    enqueue(.change(subscription))
    return false
  }

  /// Queues an update of a subscription in the format `state` whose state is large.
  public func largeStateChanged(_ subscription: Subscription) {
    largeChanges.append(subscription)
    sendLargeChange()
  }

  /// Writes the coalesced update of a subscription in its place in the outbox; later changes are
  /// not coalesced with it.
  public func finishWaiting(_ subscription: Subscription) {
    guard !isClosed, let change = subscription.takeWaiting() else { return }
    let part = part(for: change)
    // A store has one place in the outbox. A second one would take later changes and send them
    // before the messages in between.
    if let index = largeChanges.firstIndex(where: { $0 === subscription }) {
      largeChanges.remove(at: index)
      enqueue(part)
    } else if !outbox.replace(subscription, with: part) {
      enqueue(part)
    }
  }

  /// Writes one update of a store.
  ///
  /// - Parameters:
  ///   - members: The members of the parameters except `applied`, as JSON text without braces.
  ///   - applied: The id of the client's latest request that the update includes, as JSON text;
  ///     empty if there is none.
  public func write(update members: UnsafeRawBufferPointer, applied: [UInt8]) {
    guard !isClosed else { return }
    turnOutcome.metrics.updatesSent.add()
    let start = nextFrame()
    out.notification(StoreChanged.method) { $0.update(members, applied: applied) }
    endFrame(from: start)
  }
}

extension JSONWriter {
  @inline(__always)
  mutating func update(_ members: UnsafeRawBufferPointer, applied: [UInt8]) {
    raw(members)
    self.applied(applied)
  }

  @inline(__always)
  mutating func applied(_ id: [UInt8]) {
    raw(",\"applied\":")
    if id.isEmpty { raw("null") } else { id.withUnsafeBytes { raw($0) } }
  }
}
