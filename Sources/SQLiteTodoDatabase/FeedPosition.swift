// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// How far the feed of one store has come, and which operations wait for it.
///
/// An operation is answered when the feed has given its change, or when there is no feed. A newer
/// feed takes over from an older one, and those who wait go on waiting, for the newer one.
final class FeedPosition: Sendable {
  private let state = Lock(Waiting())

  /// A number for a feed, under which it reports.
  func issue() -> Int { state.withLock { $0.issue() } }

  /// A feed begins: operations wait for it from now on.
  func begin(_ feed: Int) { state.withLock { $0.begin(feed) } }

  /// What the store holds has come to a version by this feed.
  func reached(_ version: ListVersion, by feed: Int) {
    for waiter in state.withLock({ $0.reached(version, by: feed) }) { waiter.resume() }
  }

  /// A feed is over.
  func end(_ feed: Int) {
    for waiter in state.withLock({ $0.end(feed) }) { waiter.resume() }
  }

  /// Whether a feed brings what the store holds up to date, or is about to give it.
  var hasFeed: Bool { state.withLock { $0.hasFeed } }

  /// Returns when the store holds a version, when it has no feed, or when the task is cancelled.
  func wait(for version: ListVersion) async {
    let number = state.withLock { $0.issue() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock {
          // Asked for inside the lock: a cancellation before it is seen here, one after it finds
          // the waiter.
          !Task.isCancelled && $0.wait(for: version, as: number, continuation)
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.stop(number) }?.resume()
    }
  }
}

/// Who waits for what: the state of a `FeedPosition`, which guards it and resumes who is returned.
private struct Waiting {
  typealias Waiter = CheckedContinuation<Void, Never>

  /// The feed that runs and where it is; nil while it is reading the list.
  private var feed: (number: Int, version: ListVersion?)?
  /// A newer feed that is reading the list and will take over.
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
