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

  /// Removes and returns the connection that has been silent for longest.
  ///
  /// - Complexity: O(1) amortised, apart from the connections that are kept.
  /// - Parameters:
  ///   - since: As for `append`.
  ///   - isKept: Returns true for a connection that keeps its place in the queue. At most 64 are
  ///     passed over.
  /// - Returns: The connection; nil if none is silent, or too many are kept.
  mutating func takeOldest(
    _ since: (ID) -> ContinuousClock.Instant?, keeping isKept: (ID) -> Bool = { _ in false }
  ) -> ID? {
    var kept: [Entry] = []
    defer { entries.prepend(contentsOf: kept) }
    for _ in 0..<count {
      if kept.count == Self.maximumKept { break }
      let entry = entries.removeFirst()
      guard let current = since(entry.id) else { continue }
      if current != entry.since {
        // The connection was active meanwhile.
        entries.append(Entry(id: entry.id, since: current))
      } else if isKept(entry.id) {
        kept.append(entry)
      } else {
        return entry.id
      }
    }
    return nil
  }

  private static var maximumKept: Int { 64 }
}
