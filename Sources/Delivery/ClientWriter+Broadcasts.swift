// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Passive subscribers of a store share one broadcast buffer of its updates. Each of them receives
// the buffer's bytes when the buffer is sent.
extension ClientWriter {
  /// A broadcast buffer from which the client takes updates, and the part that it still has to
  /// receive.
  struct BroadcastPosition {
    let subscription: Subscription
    let buffer: BroadcastUpdates
    /// The place in the buffer up to which the client has received it.
    var start: Int

    /// True if the buffer contains bytes that the client has not received.
    var hasUnsentBytes: Bool { start < buffer.end }
  }

  /// Takes the store's updates from its broadcast buffer, from this update on, until something else
  /// is written for the client.
  ///
  /// - Returns: False if the client cannot use the buffer: its updates have an `applied` id or
  ///   another framing than lines, or the buffer no longer contains this update.
  func joinBroadcast(_ update: borrowing Update, of subscription: Subscription) -> Bool {
    guard let buffer = update.broadcast, subscription.lastApplied.isEmpty, framing.isLines,
      !isClosed, let start = buffer.place(of: update, writing: Self.writeLine)
    else { return false }
    assert(!subscription.isInBroadcast, "a subscription uses one buffer at a time")
    turnOutcome.metrics.updatesSent.add()
    broadcasts.append(BroadcastPosition(subscription: subscription, buffer: buffer, start: start))
    subscription.join(buffer)
    return true
  }

  private static func writeLine(_ update: borrowing Update, to writer: inout JSONWriter) {
    writer.notification(StoreChanged.method) { $0.update(update.members, applied: []) }
    writer.raw(byte: UInt8(ascii: "\n"))
  }

  /// Sends the bytes of the broadcast buffers that the client has not received.
  public func sendBroadcasts() { flush() }

  /// Sends the new bytes of one broadcast buffer without copying them, if nothing else is to be
  /// sent.
  ///
  /// - Returns: True if nothing more is to be sent. False if several buffers have new bytes:
  ///   copying them into one write is cheaper than several writes.
  func flushBroadcast() -> Bool {
    guard let index = broadcasts.firstIndex(where: { $0.hasUnsentBytes }) else { return true }
    guard !broadcasts[(index + 1)...].contains(where: { $0.hasUnsentBytes }) else { return false }
    let (buffer, start) = (broadcasts[index].buffer, broadcasts[index].start)
    broadcasts[index].start = buffer.end
    deliver(buffer.broadcastBuffer, from: buffer.offset(of: start))
    return true
  }

  /// Copies the new bytes of all broadcast buffers into `out`, and stops taking updates from them.
  public func leaveBroadcasts() {
    guard !broadcasts.isEmpty else { return }
    let ended = broadcasts
    broadcasts = []
    for one in ended {
      if !isClosed, one.hasUnsentBytes {
        one.buffer.withBytes {
          out.raw($0.part(from: one.buffer.offset(of: one.start), to: $0.count))
        }
        awaitTurnEnd()
      }
      one.subscription.leaveBroadcast()
    }
  }
}
