// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// A peer that only looks on at a store gets what all others of them get, when that is sent.
extension ClientWriter {
  /// What the peer is to get of a text that several follow.
  struct Following {
    let subscription: Subscription
    let text: BroadcastUpdates
    /// The place up to which it has been written, or is not for this peer.
    var start: Int

    var isBehind: Bool { start < text.end }
  }

  /// Follows the messages about a store's changes from this one on, until something else is written.
  ///
  /// - Returns: Whether it does: not where this peer's messages differ from those of others.
  func follow(_ frame: borrowing Update, of subscription: Subscription) -> Bool {
    guard let text = frame.text, subscription.lastApplied.isEmpty, framing.isLines,
      !isClosed, let start = text.place(of: frame, writing: Self.writeLine)
    else { return false }
    assert(!subscription.isFollowing, "a store has one text at a time")
    following.append(Following(subscription: subscription, text: text, start: start))
    subscription.follow(text)
    return true
  }

  private static func writeLine(_ frame: borrowing Update, to writer: inout JSONWriter) {
    writer.notification(StoreChanged.method) { $0.update(frame.members, applied: []) }
    writer.raw(byte: UInt8(ascii: "\n"))
  }

  public func sendFollowed() { flush() }

  /// Sends what has come of a text that the peer follows as it is, where that is all there is for it.
  ///
  /// - Returns: Whether nothing more is to be sent. What has come of several is better copied, and goes out in
  ///   one piece.
  func flushFollowed() -> Bool {
    guard let index = following.firstIndex(where: { $0.isBehind }) else { return true }
    guard !following[(index + 1)...].contains(where: { $0.isBehind }) else { return false }
    let (text, start) = (following[index].text, following[index].start)
    following[index].start = text.end
    deliver(text.broadcastBuffer, from: text.offset(of: start))
    return true
  }

  public func endFollowing() {
    guard !following.isEmpty else { return }
    let ended = following
    following = []
    for one in ended {
      if !isClosed, one.isBehind {
        one.text.withBytes {
          out.raw($0.part(from: one.text.offset(of: one.start), to: $0.count))
        }
        awaitTurnEnd()
      }
      one.subscription.follow(nil)
    }
  }
}
