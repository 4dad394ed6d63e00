// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// The sessions that were left by their last client, in the order in which they are put to sleep.
///
/// Entries of sessions to which a client has attached since are outdated; they are noticed when they
/// are due. There is one for each client that has left within the last `SessionLimits.sleepAfter`.
struct SleepQueue {
  /// A session, and the deadline that it has until a client attaches.
  struct Entry {
    /// The time at which the session is put to sleep, by the shard's `uptime`.
    let due: Duration
    let handle: SessionHandle
    let deadline: Duration
  }

  private var entries: Deque<Entry> = []

  /// Adds a session, after all others: each waits for the same time.
  mutating func add(_ entry: Entry) { entries.append(entry) }

  /// Removes and returns the first session that is due; nil if there is none.
  mutating func takeDue(at now: Duration) -> Entry? {
    guard let first = entries.first, first.due <= now else { return nil }
    return entries.removeFirst()
  }

  /// The sessions, in the order in which they were left.
  var oldestFirst: some Sequence<Entry> { entries }
}
