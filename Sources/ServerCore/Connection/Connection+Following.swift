// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// A peer that only looks on at a store gets what all others of them get, at the end of the turn.
extension Connection {
  /// What the peer is to get of a text that several follow.
  struct Following {
    let attachment: Attachment
    let text: FrameText
    /// What comes before has been written, or is not for this peer.
    let start: Int
  }

  /// Follows the messages about a store's changes from this one on.
  ///
  /// - Returns: Whether it does: not where this peer's messages differ from those of others.
  func follow(_ frame: borrowing ChangedFrame, of attachment: Attachment) -> Bool {
    guard following == nil, let text = frame.text, attachment.lastApplied.isEmpty,
      framing != .headers,
      !isWebSocket, phase != .closed
    else { return false }
    following = Following(
      attachment: attachment, text: text, start: text.place(of: frame, writing: Self.writeLine))
    attachment.follow(text)
    awaitTurnEnd()
    return true
  }

  private static func writeLine(_ frame: borrowing ChangedFrame, to writer: inout JSONWriter) {
    notify(StoreChanged.method, to: &writer) {
      write(changed: frame.members, applied: [], to: &$0)
    }
    writer.raw(byte: UInt8(ascii: "\n"))
  }

  public func endFollowing() {
    guard let following = takeFollowing(), phase != .closed else { return }
    following.text.withBytes { out.raw($0.part(from: following.start, to: $0.count)) }
  }

  /// What the peer has followed until now; it follows nothing any more.
  func takeFollowing() -> Following? {
    guard let following else { return nil }
    self.following = nil
    following.attachment.follow(nil)
    return following
  }
}
