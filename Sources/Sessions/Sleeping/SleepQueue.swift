// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// The sessions that were left by their last client, in the order in which they are put to sleep.
///
/// Entries of sessions to which a client has attached since are outdated. They are removed when they
/// are due, and before there are many.
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

  var count: Int { entries.count }

  /// Removes outdated entries.
  ///
  /// - Complexity: O(n)
  mutating func removeAll(where isOutdated: (Entry) -> Bool) {
    entries.removeAll(where: isOutdated)
  }

  /// Removes and returns the first session that is due; nil if there is none.
  mutating func takeDue(at now: Duration) -> Entry? {
    guard let first = entries.first, first.due <= now else { return nil }
    return entries.removeFirst()
  }

  /// The sessions, in the order in which they were left.
  var oldestFirst: some Sequence<Entry> { entries }
}
