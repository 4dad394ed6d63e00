// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// The progress of one store's feed, and the operations that wait for it.
///
/// The response to an operation is sent after the feed has sent its change to the store, or
/// immediately if there is no feed. When a newer feed replaces an older one, the waiting operations
/// wait for the newer one.
final class FeedPosition: Sendable {
  private let state = Lock(Waiting())

  /// Returns a new number, which identifies a feed in the other calls.
  func issue() -> Int { state.withLock { $0.issue() } }

  /// Begins a feed: operations wait for it from now on.
  func begin(_ feed: Int) { state.withLock { $0.begin(feed) } }

  /// Records that this feed has brought the store to a version.
  func reached(_ version: ListVersion, by feed: Int) {
    for waiter in state.withLock({ $0.reached(version, by: feed) }) { waiter.resume() }
  }

  /// Ends a feed.
  func end(_ feed: Int) {
    for waiter in state.withLock({ $0.end(feed) }) { waiter.resume() }
  }

  /// True while a feed updates the store, or is reading the list.
  var hasFeed: Bool { state.withLock { $0.hasFeed } }

  /// Waits until the store has a version, until it has no feed, or until the task is cancelled.
  func wait(for version: ListVersion) async {
    let number = state.withLock { $0.issue() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock {
          // Checked while the lock is held: an earlier cancellation is seen here, and a later one
          // finds the waiter.
          !Task.isCancelled && $0.wait(for: version, as: number, continuation)
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.stop(number) }?.resume()
    }
  }
}

/// The feeds and the waiting operations of a `FeedPosition`, which guards this value and resumes
/// the returned waiters.
private struct Waiting {
  typealias Waiter = CheckedContinuation<Void, Never>

  /// The current feed and the version that it has reached; nil while it is reading the list.
  private var feed: (number: Int, version: ListVersion?)?
  /// A newer feed that is reading the list and will replace the current one.
  private var successor: Int?
  private var waiters: [Int: (version: ListVersion, waiter: Waiter)] = [:]
  private var last = 0

  var hasFeed: Bool { feed != nil }

  mutating func issue() -> Int {
    last += 1
    return last
  }

  mutating func begin(_ number: Int) {
    if feed?.version == nil { feed = (number, nil) } else { successor = number }
  }

  mutating func reached(_ version: ListVersion, by number: Int) -> [Waiter] {
    if successor == number {
      feed = (number, version)
      successor = nil
    }
    guard feed?.number == number else { return [] }
    feed?.version = version
    return release { $0 <= version }
  }

  mutating func end(_ number: Int) -> [Waiter] {
    if successor == number { successor = nil }
    guard feed?.number == number else { return [] }
    feed = successor.map { ($0, nil) }
    successor = nil
    return feed == nil ? release { _ in true } : []
  }

  mutating func wait(for version: ListVersion, as number: Int, _ waiter: Waiter) -> Bool {
    guard let feed else { return false }
    if let reached = feed.version, reached >= version { return false }
    waiters[number] = (version, waiter)
    return true
  }

  mutating func stop(_ number: Int) -> Waiter? {
    waiters.removeValue(forKey: number)?.waiter
  }

  private mutating func release(where condition: (ListVersion) -> Bool) -> [Waiter] {
    let released = waiters.filter { condition($0.value.version) }
    for number in released.keys { waiters[number] = nil }
    return released.values.map(\.waiter)
  }
}
