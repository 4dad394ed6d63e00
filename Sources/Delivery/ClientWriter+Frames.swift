// SPDX-License-Identifier: Apache-2.0

public import Sessions
public import StatewireJSON
internal import Wire

// Messages are appended to `out`, each in the client's framing.
extension ClientWriter {
  // The size of output after which a turn ends early for its client.
  static var flushBytes: Int { 256 << 10 }
  // About the output for a few dozen inputs. The buffer is released after it was sent.
  static var maximumUsualBytes: Int { 32 << 10 }

  /// Writes one message.
  public func write(_ body: (inout JSONWriter) -> Void) {
    guard !isClosed else { return }
    let start = nextFrame()
    body(&out)
    endFrame(from: start)
  }

  /// Writes bytes that are not a message, without framing.
  public func write(unframed bytes: [UInt8]) {
    guard !isClosed else { return }
    let start = nextFrame()
    out.raw(bytes)
    holdBack(from: start)
    awaitTurnEnd()
  }

  /// Writes a part of a message in the framing of the client; over a WebSocket, each part is a
  /// fragment. Whole messages that are written between the parts follow the last part.
  ///
  /// - Parameters:
  ///   - part: The bytes.
  ///   - messageBytes: The length of the whole message.
  ///   - isFirst: True if the message begins with the part.
  ///   - isLast: True if the message ends with the part.
  public func write(
    part: UnsafeRawBufferPointer, of messageBytes: Int, isFirst: Bool, isLast: Bool
  ) {
    guard !isClosed else { return }
    _ = nextFrame()
    framing.frame(
      part: part, of: messageBytes, isFirst: isFirst, isLast: isLast, into: &out)
    if isLast {
      if let heldBack { out.raw(heldBack) }
      heldBack = nil
    } else if isFirst {
      heldBack = []
    }
    awaitTurnEnd()
  }

  /// Prepares `out` for the next message, and returns the offset at which it begins.
  func nextFrame() -> Int {
    leaveBroadcasts()
    if out.count == 0, !isBlocked { out.reserve(likeLastTime: Int(usualBytes)) }
    return out.count
  }

  /// Frames the message that was written from an offset on.
  func endFrame(from start: Int) {
    framing.frame(in: &out, from: start)
    holdBack(from: start)
    // With a journal, bytes may be sent only between messages.
    if out.count > Self.flushBytes, outbox.isEmpty, !turnOutcome.isRecorded { flush() }
    awaitTurnEnd()
  }

  /// Removes what was written from an offset on, if the last part of a message is missing, which precedes it.
  private func holdBack(from start: Int) {
    guard heldBack != nil else { return }
    out.withBytes { heldBack?.append(contentsOf: $0[start...]) }
    out.truncate(to: start)
  }

  /// Registers the writer for the end of the turn, at which the connection flushes it.
  public func awaitTurnEnd() {
    guard registrations.insert(.turnEnd).inserted else { return }
    turnOutcome.add(self)
  }
}

extension ClientWriter: TurnObserver {
  /// Notifies the connection of the end of the turn.
  public func turnEnded() { delegate.turnEnded() }

  /// Sends the output of the turn that ends.
  public func endTurn() {
    registrations.remove(.turnEnd)
    flush()
  }
}
