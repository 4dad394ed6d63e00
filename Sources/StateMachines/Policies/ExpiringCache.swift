// SPDX-License-Identifier: Apache-2.0

/// A cache whose values expire.
///
/// It has no clock: callers pass the current time of a clock that never decreases.
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
    /// The keys, sorted by expiry time, the earliest first.
    var order: [(end: Duration, key: Key)] = []
    /// The total size of all values.
    var size = 0

    mutating func insert(_ entry: Entry, for key: Key) {
      all[key] = entry
      size += entry.size
      // After the entries that expire at the same time.
      order.insert((entry.end, key), at: order.partitioningIndex { $0.end > entry.end })
    }

    mutating func remove(_ key: Key) {
      guard let entry = all.removeValue(forKey: key) else { return }
      size -= entry.size
      let first = order.partitioningIndex { $0.end >= entry.end }
      if let index = order[first...].firstIndex(where: { $0.key == key }) {
        order.remove(at: index)
      }
    }

    /// Removes the expired values, and those that expire first until there is room.
    mutating func evict(count: Int, size: Int, _ now: Duration) {
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

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - capacity: The largest number of values. If it is exceeded, the value that expires first is
  ///     removed.
  ///   - maximumSize: The largest total size. If it is exceeded, values are removed in the same
  ///     order. A value that alone is larger is not cached.
  ///   - size: Returns the size of a value.
  public init(
    capacity: Int = 1_000, maximumSize: Int = .max,
    size: @escaping @Sendable (Value) -> Int = { _ in 0 }
  ) {
    precondition(capacity >= 1, "a cache needs a capacity of at least 1")
    self.capacity = capacity
    self.maximumSize = maximumSize
    self.size = size
  }

  /// The number of cached values, including expired ones.
  public var count: Int { entries.withLock { $0.all.count } }

  /// Returns the value of a key; nil if there is none or it has expired.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - now: The clock's `uptime`.
  public func value(for key: Key, now: Duration) -> Value? {
    entries.withLock { entries in
      guard let entry = entries.all[key] else { return nil }
      if now < entry.end { return entry.value }
      entries.remove(key)
      return nil
    }
  }

  /// Caches a value; replaces an older value of the key.
  ///
  /// Does nothing if the task has been cancelled. Therefore, if a caller cancels work and then
  /// calls `remove`, the work cannot insert the value again.
  ///
  /// - Complexity: One binary search and one move in an array of at most `capacity` elements,
  ///   however many values are removed.
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - time: The time until the value expires; a value with a time of zero is not cached.
  ///   - now: The clock's `uptime`.
  public func insert(_ value: Value, for key: Key, keeping time: Duration, now: Duration) {
    let size = size(value)
    entries.withLock { entries in
      guard !Task.isCancelled, time > .zero else { return }
      entries.remove(key)
      guard size <= maximumSize else { return }
      entries.evict(count: capacity - 1, size: maximumSize - size, now)
      entries.insert(Entry(value: value, end: now + time, size: size), for: key)
    }
  }

  /// Removes the value of a key.
  public func remove(_ key: Key) { entries.withLock { $0.remove(key) } }
}
