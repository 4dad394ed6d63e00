// SPDX-License-Identifier: Apache-2.0

public import Sessions
public import StatewireJSON
internal import Wire

// One message after the other is appended to `out`, each framed as the client wants it.
extension ClientWriter {
  // A turn that writes more than this ends early for its client.
  static var flushBytes: Int { 256 << 10 }
  // As much as a client gets for a few dozen inputs; it is released when it has been sent.
  static var maximumUsualBytes: Int { 32 << 10 }

  /// Writes one message.
  public func write(_ body: (inout JSONWriter) -> Void) {
    guard !isClosed else { return }
    let start = nextFrame()
    body(&out)
    endFrame(from: start)
  }

  /// Writes bytes that are not a message.
  public func write(unframed bytes: [UInt8]) {
    guard !isClosed else { return }
    _ = nextFrame()
    out.raw(bytes)
    awaitTurnEnd()
  }

  /// Returns the offset at which the next message begins.
  func nextFrame() -> Int {
    endFollowing()
    if out.count == 0, !isHeldUp { out.reserve(likeLastTime: Int(usualBytes)) }
    return out.count
  }

  /// Frames the message that was written since.
  func endFrame(from start: Int) {
    framing.frame(in: &out, from: start)
    // With a journal bytes are whole only between messages.
    if out.count > Self.flushBytes, outbox.isEmpty, !turnOutcome.isRecorded { flush() }
    awaitTurnEnd()
  }

  /// Lets the connection flush at the end of the turn.
  public func awaitTurnEnd() {
    guard !isTurnEndAwaited else { return }
    isTurnEndAwaited = true
    turnOutcome.add(self)
  }
}

extension ClientWriter: TurnObserver {
  public func turnEnded() { delegate.turnEnded() }

  /// Sends what can be sent of the turn that ends.
  public func endTurn() {
    isTurnEndAwaited = false
    flush()
  }
}
