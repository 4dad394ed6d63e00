// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Frames with a large state are written on another thread, so that other clients do not wait. The
// outbox keeps the place of such a frame. Until it is written, the client's next messages wait as
// if the client did not read.
extension ClientWriter {
  /// Returns true if a frame of about this many bytes is written on another thread.
  ///
  /// Under test it is always false, so that the output does not depend on timing.
  func isLarge(_ expectedBytes: Int) -> Bool {
    expectedBytes > JSONEncodedState.largeBytes && testing == nil
  }

  /// Returns the outbox part for a coalesced update.
  func part(for change: CoalescedContent) -> Outbox.Part {
    turnOutcome.metrics.updatesSent.add()
    let framing = framing
    let frame = UnwrittenFrame(expectedBytes: change.expectedBytes) { writer in
      framing.frame(into: &writer) { writer in
        writer.notification(StoreChanged.method) {
          change.write(to: &$0)
          $0.applied(change.applied)
        }
      }
    }
    guard isLarge(change.expectedBytes) else {
      var writer = JSONWriter()
      frame.write(&writer)
      return .bytes(writer.bytes())
    }
    return .unwritten(frame)
  }

  /// Queues the next update of a subscription in the format `state` whose state is large.
  ///
  /// The updates are limited to 32 MiB per second, because writing one after each change would
  /// occupy a processor.
  func sendLargeChange() {
    guard !isPausing, !largeChanges.isEmpty else { return }
    let subscription = largeChanges.removeFirst()
    enqueue(.change(subscription))
    guard testing == nil else { return sendLargeChange() }
    isPausing = true
    // because it is accessed only on the shard, where the closure is created and called.
    nonisolated(unsafe) weak let writer = self
    shard.wait(.seconds(1) * subscription.expectedBytes / Self.largeBytesPerSecond) { _ in
      guard let writer, !writer.isClosed else { return }
      writer.isPausing = false
      writer.sendLargeChange()
    }
  }

  private static var largeBytesPerSecond: Int { 32 << 20 }

  /// Appends a part to the outbox after everything that has been written.
  func enqueue(_ part: Outbox.Part) {
    leaveBroadcasts()
    passReadyBytes()
    outbox.add(.bytes(out.bytes()))
    out.removeAll()
    outbox.add(part)
    awaitTurnEnd()
  }

  /// Writes the first frame of the outbox on another thread.
  func writeOffloaded(_ frame: UnwrittenFrame) {
    outbox.replaceFirst(with: .awaited(frame))
    let write = frame.write
    // because it is accessed only on the shard, where the closure is created and called.
    nonisolated(unsafe) weak let writer = self
    shard.offload {
      var text = JSONWriter(reserving: frame.expectedBytes)
      write(&text)
      return text.bytes()
    } then: { bytes, shard in
      guard let writer, !writer.isClosed else { return }
      writer.outbox.replaceFirst(with: .bytes(bytes))
      writer.resume(shard)
    }
  }

  /// Continues after offloaded work has ended: flushes, and notifies the connection if its messages
  /// may continue.
  public func resume(_ shard: isolated Shard) {
    guard !isClosed else { return }
    awaitTurnEnd()
    updateCongestion()
    flush()
    if !isBlocked { delegate.writerIsReady(shard) }
  }
}
