// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// A queue of connections, ordered by the time since which they are silent. The oldest is found
/// without a search of all connections.
struct SilentQueue<ID: Hashable> {
  private struct Entry {
    let id: ID
    let since: ContinuousClock.Instant
  }

  private var entries: Deque<Entry> = []

  var count: Int { entries.count }

  /// Adds a connection that is silent from now on.
  ///
  /// - Complexity: O(1) amortised. Entries of closed connections are removed when they outnumber
  ///   the others.
  /// - Parameters:
  ///   - id: The connection.
  ///   - now: The time.
  ///   - open: Number of open connections.
  ///   - since: Returns the time since which an open connection is silent; nil for every other.
  mutating func append(
    _ id: ID, since now: ContinuousClock.Instant, of open: Int,
    _ since: (ID) -> ContinuousClock.Instant?
  ) {
    if count > 2 * open + 64 {
      // A new connection can have the id of a closed one: only one entry for each id is kept.
      var seen: Set<ID> = []
      entries = Deque(
        entries.compactMap { entry in
          guard let current = since(entry.id), seen.insert(entry.id).inserted else { return nil }
          return Entry(id: entry.id, since: current)
        })
    }
    entries.append(Entry(id: id, since: now))
  }

  /// Removes and returns the connections that have been silent for longest.
  ///
  /// - Complexity: O(n) in the number of entries.
  /// - Parameters:
  ///   - maximum: The largest number of connections to remove.
  ///   - since: As for `append`.
  mutating func takeOldest(_ maximum: Int, _ since: (ID) -> ContinuousClock.Instant?) -> [ID] {
    var taken: [ID] = []
    for _ in 0..<count where taken.count < maximum {
      let entry = entries.removeFirst()
      guard let current = since(entry.id) else { continue }
      if current == entry.since {
        taken.append(entry.id)
      } else {
        // The connection was active meanwhile.
        entries.append(Entry(id: entry.id, since: current))
      }
    }
    return taken
  }
}
