// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Frames that take long to write, since they have a large state in them, are written on another thread, so that no
// other client waits for them. Their place in the outbox is kept; this client's next messages wait, as if it did not
// read.
extension ClientWriter {
  /// True if something of about so many bytes is written on another thread.
  ///
  /// Under test it is not: the bytes do not depend on the time that it takes.
  func isLarge(_ expectedBytes: Int) -> Bool {
    expectedBytes > JSONEncodedState.largeBytes && testing == nil
  }

  /// The frame of a coalesced update.
  func part(for change: CoalescedChange) -> Outbox.Part {
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

  /// Sends the next of the large states that the client wants after each change.
  ///
  /// Not as often as they change: the client would need all the time of a processor.
  func sendLargeChange() {
    guard !isPausing, !largeChanges.isEmpty else { return }
    let subscription = largeChanges.removeFirst()
    putOff(.change(subscription))
    guard testing == nil else { return sendLargeChange() }
    isPausing = true
    // because it is looked at on the shard only, where it is given and taken.
    nonisolated(unsafe) weak let writer = self
    shard.wait(.seconds(1) * subscription.expectedBytes / Self.largeBytesPerSecond) { _ in
      guard let writer, !writer.isClosed else { return }
      writer.isPausing = false
      writer.sendLargeChange()
    }
  }

  private static var largeBytesPerSecond: Int { 32 << 20 }

  /// Puts something after all that has been written.
  func putOff(_ part: Outbox.Part) {
    endFollowing()
    handOut()
    outbox.add(.bytes(out.bytes()))
    out.removeAll()
    outbox.add(part)
    awaitTurnEnd()
  }

  /// Writes the frame that comes first in the outbox.
  func writeElsewhere(_ frame: UnwrittenFrame) {
    outbox.replaceFirst(with: .awaited(expectedBytes: frame.expectedBytes))
    let write = frame.write
    // because it is looked at on the shard only, where it is given and taken.
    nonisolated(unsafe) weak let writer = self
    shard.elsewhere {
      var text = JSONWriter(reserving: frame.expectedBytes)
      write(&text)
      return text.bytes()
    } then: { bytes, shard in
      guard let writer, !writer.isClosed else { return }
      writer.outbox.replaceFirst(with: .bytes(bytes))
      writer.resume(shard)
    }
  }

  /// Continues with what waited for another thread.
  public func resume(_ shard: isolated Shard) {
    guard !isClosed else { return }
    awaitTurnEnd()
    updateCongestion()
    flush()
    if !isHeldUp { delegate.writerIsReady(shard) }
  }
}
