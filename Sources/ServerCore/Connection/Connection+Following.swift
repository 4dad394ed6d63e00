// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// A peer that only looks on at a store gets what all others of them get, when that is sent.
extension Connection {
  /// What the peer is to get of a text that several follow.
  struct Following {
    let attachment: Attachment
    let text: FrameText
    /// The place up to which it has been written, or is not for this peer.
    var start: Int

    var isBehind: Bool { start < text.end }
  }

  /// Follows the messages about a store's changes from this one on, until something else is written.
  ///
  /// - Returns: Whether it does: not where this peer's messages differ from those of others.
  func follow(_ frame: borrowing ChangedFrame, of attachment: Attachment) -> Bool {
    guard let text = frame.text, attachment.lastApplied.isEmpty, framing != .headers, !isWebSocket,
      phase != .closed, let start = text.place(of: frame, writing: Self.writeLine)
    else { return false }
    following.append(Following(attachment: attachment, text: text, start: start))
    attachment.follow(text)
    return true
  }

  private static func writeLine(_ frame: borrowing ChangedFrame, to writer: inout JSONWriter) {
    notify(StoreChanged.method, to: &writer) {
      write(changed: frame.members, applied: [], to: &$0)
    }
    writer.raw(byte: UInt8(ascii: "\n"))
  }

  public func sendFollowed() { flush() }

  /// Sends what has come of the texts that the peer follows, as it is.
  func flushFollowed() {
    var index = 0
    // What the output does with one can lead back here, and end it all.
    while index < following.count {
      let one = following[index]
      if one.isBehind {
        following[index].start = one.text.end
        output.write(one.text, from: one.text.offset(of: one.start))
        isCongested = output.isCongested
        // What comes until the peer has read is merged.
        if isCongested { return endFollowing() }
      }
      index += 1
    }
  }

  public func endFollowing() {
    guard !following.isEmpty else { return }
    let ended = following
    following = []
    for one in ended {
      if phase != .closed, one.isBehind {
        one.text.withBytes {
          out.raw($0.part(from: one.text.offset(of: one.start), to: $0.count))
        }
        awaitTurnEnd()
      }
      one.attachment.follow(nil)
    }
  }
}
