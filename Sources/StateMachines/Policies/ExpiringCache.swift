// SPDX-License-Identifier: Apache-2.0

/// A cache whose values expire.
///
/// It has no clock: callers pass the current time of a clock that never decreases.
public final class ExpiringCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let entries: Lock<Entries>
  private let capacity: Int
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
    /// The total size of all values, which is taken from `quota`.
    var size = 0
    let quota: CacheQuota

    /// Removes the expired values, and inserts an entry if there is room, of which other values of this
    /// cache may take a part.
    mutating func insert(_ entry: Entry, for key: Key, capacity: Int, _ now: Duration) {
      evict(count: .max, size: 0, now)
      guard entry.size <= size + quota.free else { return }
      evict(count: capacity - 1, size: entry.size, now)
      // Another cache may have taken the room meanwhile.
      guard quota.take(entry.size) else { return }
      size += entry.size
      all[key] = entry
      // After the entries that expire at the same time.
      order.insert((entry.end, key), at: order.partitioningIndex { $0.end > entry.end })
    }

    mutating func remove(_ key: Key) {
      guard let entry = all.removeValue(forKey: key) else { return }
      release(entry.size)
      let first = order.partitioningIndex { $0.end >= entry.end }
      if let index = order[first...].firstIndex(where: { $0.key == key }) {
        order.remove(at: index)
      }
    }

    /// Removes the expired values, and those that expire first until there is room for a size.
    private mutating func evict(count: Int, size: Int, _ now: Duration) {
      var removed = 0
      while removed < order.count,
        order.count - removed > count || quota.free < size || order[removed].end <= now
      {
        if let entry = all.removeValue(forKey: order[removed].key) { release(entry.size) }
        removed += 1
      }
      order.removeFirst(removed)
    }

    mutating func release(_ size: Int) {
      self.size -= size
      quota.release(size)
    }
  }

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - capacity: The largest number of values. If it is exceeded, the value that expires first is
  ///     removed.
  ///   - maximumSize: The largest total size. If it is exceeded, values are removed in the same
  ///     order. A value that alone is larger is not cached.
  ///   - quota: The quota that several caches share. A cache removes its own values in favour of a
  ///     new one; a value for which the others leave no room is not cached.
  ///   - size: Returns the size of a value.
  public init(
    capacity: Int = 1_000, maximumSize: Int = .max, within quota: CacheQuota? = nil,
    size: @escaping @Sendable (Value) -> Int = { _ in 0 }
  ) {
    precondition(capacity >= 1, "a cache needs a capacity of at least 1")
    self.capacity = capacity
    entries = Lock(Entries(quota: CacheQuota(maximum: maximumSize, within: quota)))
    self.size = size
  }

  deinit { entries.withLock { $0.release($0.size) } }

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
      let entry = Entry(value: value, end: now + time, size: size)
      entries.insert(entry, for: key, capacity: capacity, now)
    }
  }

  /// Removes the value of a key.
  public func remove(_ key: Key) { entries.withLock { $0.remove(key) } }
}
