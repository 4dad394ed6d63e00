// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Updates: written immediately, or coalesced while the client lags.
extension ClientWriter {
  public func storeChanged(_ frame: borrowing Update, of subscription: Subscription) -> Bool {
    if !isHeldUp, outbox.isEmpty {
      // Of its store another text, or none, is followed from now on. And under test the bytes for a client do not
      // depend on which changes come in one turn.
      if subscription.isFollowing || testing != nil { endFollowing() }
      // As at the end of a frame, of which there is none where a client only follows.
      if out.count > Self.flushBytes, !turnOutcome.isRecorded { flush() }
    }
    guard isHeldUp || !outbox.isEmpty else {
      if !follow(frame, of: subscription) {
        write(update: frame.members, applied: subscription.lastApplied)
      }
      return true
    }
    // Its place is after all that has been written.
    putOff(.change(subscription))
    return false
  }

  public func storeChangedWholly(_ subscription: Subscription) {
    largeChanges.append(subscription)
    sendLargeChange()
  }

  public func finishWaiting(_ subscription: Subscription) {
    guard !isClosed, let change = subscription.takeWaiting() else { return }
    let part = part(for: change)
    // One place for each store: a second one would take later changes, and send them before what is between.
    if let index = largeChanges.firstIndex(where: { $0 === subscription }) {
      largeChanges.remove(at: index)
      putOff(part)
    } else if !outbox.settle(subscription, as: part) {
      putOff(part)
    }
  }

  /// Writes one update of a store.
  ///
  /// - Parameters:
  ///   - members: The members of its parameters but for `applied`.
  ///   - applied: The id of the client's latest request that is in it, as JSON text; empty if there was none.
  public func write(update members: UnsafeRawBufferPointer, applied: [UInt8]) {
    guard !isClosed else { return }
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
