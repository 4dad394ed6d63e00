// SPDX-License-Identifier: Apache-2.0

/// Lets what the connections of an event loop have written leave together, when the loop has heard those
/// who have sent something, or a few of them.
///
/// The write that finds a peer asleep wakes it, which costs as much as several inputs; those that
/// follow at once find it awake.
final class SendRound {
  /// Those with something that has been written and not sent.
  private var waiting: [ConnectionHandler] = []

  /// Takes one more into the round, which may end with it.
  /// - Returns: Whether the round has begun with it, and is to be ended when the loop has heard the others.
  func join(_ handler: ConnectionHandler) -> Bool {
    waiting.append(handler)
    if waiting.count == Self.size { end() }
    return waiting.count == 1
  }

  /// Sends it all.
  func end() {
    for place in waiting.indices { waiting[place].flush() }
    waiting.removeAll(keepingCapacity: true)
  }

  // Of more the first would wait longer, and the peers have no less to do.
  private static let size = 16
}
