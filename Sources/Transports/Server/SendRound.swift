// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Holds back what connections have written until the event loop has heard others too.
///
/// The write that finds a peer asleep wakes it, which costs as much as several inputs; those that
/// follow at once find it awake. A round ends when the loop has heard all that have sent something, or
/// before it turns to more than `heardBytes` of theirs, or to another when it has lasted for `time`, or
/// when `size` wait.
final class SendRound {
  /// Those with something that has been written and not sent.
  private var waiting: [ConnectionHandler] = []
  private var leaving: [ConnectionHandler] = []
  private var heard = 0
  private var start = NIODeadline.uptimeNanoseconds(0)

  /// Takes one more into the round.
  /// - Returns: Whether it is the first, who sees to the end of the round.
  func join(_ handler: ConnectionHandler) -> Bool {
    if waiting.isEmpty { start = .now() }
    waiting.append(handler)
    if waiting.count == Self.size { end() }
    return waiting.count == 1
  }

  /// So many bytes of a peer are about to be worked on.
  func willHear(_ byteCount: Int) {
    guard !waiting.isEmpty else { return }
    heard += byteCount
    if heard > Self.heardBytes || .now() - start > Self.time { end() }
  }

  /// Sends it all.
  func end() {
    heard = 0
    // A flush that fails can make a handler read at once; nothing waits then, and nothing joins.
    swap(&leaving, &waiting)
    for place in leaving.indices { leaving[place].endRound() }
    leaving.removeAll(keepingCapacity: true)
  }

  // Those whose answers wait should not wait for more work than this. A few bytes can ask for much,
  // which nobody knows before.
  private static let heardBytes = 32 << 10
  private static let time = TimeAmount.milliseconds(1)
  private static let size = 64
}
