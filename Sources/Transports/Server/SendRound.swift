// SPDX-License-Identifier: Apache-2.0

/// Holds back what connections have written until the event loop has heard others too.
///
/// The write that finds a peer asleep wakes it, which costs as much as several inputs; those that
/// follow at once find it awake. A round ends when the loop has heard all that have sent something, or
/// before it turns to more than `heardBytes` of theirs.
final class SendRound {
  /// Those with something that has been written and not sent.
  private var waiting: [ConnectionHandler] = []
  private var heard = 0

  /// Takes one more into the round.
  /// - Returns: Whether it is the first, who sees to the end of the round.
  func join(_ handler: ConnectionHandler) -> Bool {
    waiting.append(handler)
    return waiting.count == 1
  }

  /// So many bytes of a peer are about to be worked on.
  func willHear(_ byteCount: Int) {
    guard !waiting.isEmpty else { return }
    heard += byteCount
    if heard > Self.heardBytes { end() }
  }

  /// Sends it all.
  func end() {
    heard = 0
    // Nothing that a flush sets off may join what is gone through.
    var leaving: [ConnectionHandler] = []
    swap(&leaving, &waiting)
    for handler in leaving { handler.flush() }
  }

  // What is worked on for longer is not worth its wait to those who have their answer.
  private static let heardBytes = 32 << 10
}
