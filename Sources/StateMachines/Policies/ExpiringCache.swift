// SPDX-License-Identifier: Apache-2.0

/// Values that are kept for a while.
///
/// It has no clock: whoever asks says what time it is, on a clock that never goes back.
public final class ExpiringCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let entries = Lock(Entries())
  private let capacity: Int
  private let maximumSize: Int
  private let size: @Sendable (Value) -> Int

  private struct Entry {
    let value: Value
    let end: Duration
    let size: Int
  }

  private struct Entries {
    var all: [Key: Entry] = [:]
    /// The keys, those first whose time ends first.
    var order: [(end: Duration, key: Key)] = []
    /// The sizes of all values together.
    var size = 0

    mutating func insert(_ entry: Entry, for key: Key) {
      all[key] = entry
      size += entry.size
      // Behind those that end at the same time.
      order.insert((entry.end, key), at: order.firstIndex(above: entry.end, by: \.end))
    }

    mutating func remove(_ key: Key) {
      guard let entry = all.removeValue(forKey: key) else { return }
      size -= entry.size
      let first = order.firstIndex(atLeast: entry.end, by: \.end)
      if let index = order[first...].firstIndex(where: { $0.key == key }) {
        order.remove(at: index)
      }
    }

    /// Removes the values whose time is over, and those whose time ends first until there is room.
    mutating func makeRoom(count: Int, size: Int, _ now: Duration) {
      var removed = 0
      while removed < order.count,
        order.count - removed > count || self.size > size || order[removed].end <= now
      {
        if let entry = all.removeValue(forKey: order[removed].key) { self.size -= entry.size }
        removed += 1
      }
      order.removeFirst(removed)
    }
  }

  /// - Parameters:
  ///   - capacity: How many values are kept at most; beyond, the one that would be kept for the shortest
  ///     time goes.
  ///   - maximumSize: How large all of them are at most; beyond, the same. A value that is larger by
  ///     itself is not kept.
  ///   - size: How large a value is.
  public init(
    capacity: Int = 1_000, maximumSize: Int = .max,
    size: @escaping @Sendable (Value) -> Int = { _ in 0 }
  ) {
    precondition(capacity >= 1, "a cache without room is none")
    self.capacity = capacity
    self.maximumSize = maximumSize
    self.size = size
  }

  /// How many values are kept, expired ones included.
  public var count: Int { entries.withLock { $0.all.count } }

  /// The value of a key, unless its time is over.
  ///
  /// - Parameters:
  ///   - key: What it was kept under.
  ///   - now: The clock's `uptime`.
  public func value(for key: Key, now: Duration) -> Value? {
    entries.withLock { entries in
      guard let entry = entries.all[key] else { return nil }
      if now < entry.end { return entry.value }
      entries.remove(key)
      return nil
    }
  }

  /// Keeps a value, in place of an older one.
  ///
  /// Not if the task has been cancelled: so whoever cancels work and then calls `remove` can be
  /// sure that the work brings nothing back.
  ///
  /// - Complexity: One search and one move in an array of `capacity` at most, however many values go.
  /// - Parameters:
  ///   - value: What is kept.
  ///   - key: What it is kept under.
  ///   - time: How long to keep it; a value that is kept for no time is not kept.
  ///   - now: The clock's `uptime`.
  public func insert(_ value: Value, for key: Key, keeping time: Duration, now: Duration) {
    let size = size(value)
    entries.withLock { entries in
      guard !Task.isCancelled, time > .zero else { return }
      entries.remove(key)
      guard size <= maximumSize else { return }
      entries.makeRoom(count: capacity - 1, size: maximumSize - size, now)
      entries.insert(Entry(value: value, end: now + time, size: size), for: key)
    }
  }

  /// Drops the value of a key.
  public func remove(_ key: Key) { entries.withLock { $0.remove(key) } }
}
