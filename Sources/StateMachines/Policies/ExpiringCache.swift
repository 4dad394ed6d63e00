// SPDX-License-Identifier: Apache-2.0

/// Values that are kept for a while.
///
/// It has no clock: whoever asks says what time it is, on a clock that never goes back.
public final class ExpiringCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    let value: Value
    let end: Duration
  }

  private let entries = Lock<[Key: Entry]>([:])
  private let capacity: Int
  private let maximumSize: Int
  private let size: @Sendable (Value) -> Int

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
  public var count: Int { entries.withLock { $0.count } }

  /// The value of a key, unless its time is over.
  ///
  /// - Parameters:
  ///   - key: What it was kept under.
  ///   - now: The clock's `uptime`.
  public func value(for key: Key, now: Duration) -> Value? {
    entries.withLock { entries in
      guard let entry = entries[key] else { return nil }
      if now < entry.end { return entry.value }
      entries[key] = nil
      return nil
    }
  }

  /// Keeps a value, in place of an older one.
  ///
  /// Not if the task has been cancelled: so whoever cancels work and then calls `remove` can be
  /// sure that the work brings nothing back.
  ///
  /// - Parameters:
  ///   - value: What is kept.
  ///   - key: What it is kept under.
  ///   - time: How long to keep it; a value that is kept for no time is not kept.
  ///   - now: The clock's `uptime`.
  public func insert(_ value: Value, for key: Key, keeping time: Duration, now: Duration) {
    entries.withLock { entries in
      guard !Task.isCancelled, time > .zero else { return }
      entries[key] = nil
      let room = maximumSize - size(value)
      guard room >= 0 else { return }
      while entries.count >= capacity || entries.values.reduce(0, { $0 + size($1.value) }) > room {
        Self.makeRoom(&entries, now)
      }
      entries[key] = Entry(value: value, end: now + time)
    }
  }

  /// Drops the value of a key.
  public func remove(_ key: Key) { entries.withLock { $0[key] = nil } }

  private static func makeRoom(_ entries: inout [Key: Entry], _ now: Duration) {
    let fresh = entries.filter { now < $1.end }
    guard fresh.count == entries.count else {
      entries = fresh
      return
    }
    if let first = entries.min(by: { $0.value.end < $1.value.end }) { entries[first.key] = nil }
  }
}
