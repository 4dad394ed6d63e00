// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Connections in the order in which they fell silent: those that have been silent for longest are found without looking at
/// all of them.
struct SilentQueue<ID: Hashable> {
  private struct Entry {
    let id: ID
    let since: ContinuousClock.Instant
  }

  private var entries: Deque<Entry> = []

  var count: Int { entries.count }

  /// Adds a connection that says nothing from now on.
  ///
  /// - Complexity: O(1) on average: entries of connections that are gone are removed when they are more than the others.
  /// - Parameters:
  ///   - open: How many connections there are.
  ///   - since: Returns the time of one that is there and silent; nil for every other.
  mutating func append(
    _ id: ID, since now: ContinuousClock.Instant, of open: Int,
    _ since: (ID) -> ContinuousClock.Instant?
  ) {
    if count > 2 * open + 64 {
      // An id can be that of a connection that is gone and of one that is there: each has one entry.
      var seen: Set<ID> = []
      entries = Deque(
        entries.compactMap { entry in
          guard let current = since(entry.id), seen.insert(entry.id).inserted else { return nil }
          return Entry(id: entry.id, since: current)
        })
    }
    entries.append(Entry(id: id, since: now))
  }

  /// Removes the connections that have been silent for longest.
  ///
  /// - Parameters:
  ///   - maximum: How many at most.
  ///   - since: As for `append`.
  mutating func takeOldest(_ maximum: Int, _ since: (ID) -> ContinuousClock.Instant?) -> [ID] {
    var taken: [ID] = []
    for _ in 0..<count where taken.count < maximum {
      let entry = entries.removeFirst()
      guard let current = since(entry.id) else { continue }
      if current == entry.since {
        taken.append(entry.id)
      } else {
        // It has done something meanwhile.
        entries.append(Entry(id: entry.id, since: current))
      }
    }
    return taken
  }
}
